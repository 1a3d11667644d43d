import { expect, test } from 'vitest';
import { Kernel } from '../kernel.ts';
import { Mount } from './mount.ts';
import { Volume } from './volume.ts';

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
