import { expect, test } from 'vitest';
import { Kernel } from '../kernel.ts';
import { Mount } from './mount.ts';
import { Volume, type VolumeOptions } from './volume.ts';

const volumeOf = (options: Omit<VolumeOptions, 'clock'> = {}): Volume =>
  new Volume({ clock: new Kernel(), ...options });

const ignore = (): void => undefined;

test('a watcher is silent for 30 s before it counts no more, and gone at once when unmounted', () => {
  const kernel = new Kernel();
  const volume = new Volume({ clock: kernel });
  const mount = new Mount(volume, volume.publish('a'));
  const watchers = (): number => volume.watchers('b').length;
  expect(watchers()).toBe(1);
  volume.setLink('a', 'stall');
  kernel.runUntil(29_000_000);
  expect(watchers()).toBe(1);
  kernel.runUntil(31_000_000);
  expect(watchers()).toBe(0);
  volume.setLink('a', 'pass');
  expect(watchers()).toBe(1);
  mount.unmount(ignore);
  expect(watchers()).toBe(0);
});

test('a new attachment is a new path', () => {
  const volume = volumeOf();
  const path = volume.publish('a');
  expect(volume.publish('a')).toBe(path);
  volume.unpublish('a');
  expect(volume.published('a')).toBeUndefined();
  expect(volume.publish('a').generation).toBe(path.generation + 1);
});

test('after a crash the attachment stands: a dead device is let go of for a new one', () => {
  const volume = volumeOf();
  const crashed = volume.publish('a');
  volume.cut(volume.pathsOf('a'));
  volume.renew('a');
  expect(volume.published('a')?.cut).toBe(false);
  expect(volume.published('a')).not.toBe(crashed);
  volume.unpublish('a');
  volume.renew('a');
  expect(volume.published('a')).toBeUndefined();
});
