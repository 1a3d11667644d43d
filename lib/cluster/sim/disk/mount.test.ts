import { expect, test } from 'vitest';
import { Chain } from '../../../workload/ledger.ts';
import type { LedgerEntry } from '../../../workload/sql.ts';
import { Mount } from './mount.ts';
import { Volume } from './volume.ts';

const chain = new Chain('seed', { client: 'inside', connection: 0, session: 0 });
const entries = (count: number): LedgerEntry[] => Array.from({ length: count }, () => chain.next());

function write(mount: Mount, rows: readonly LedgerEntry[]): boolean {
  for (const row of rows) mount.append(row);
  return mount.sync();
}

test('what was synced is on the image, what was only appended is not', () => {
  const volume = new Volume();
  const mount = new Mount(volume, volume.publish('a'));
  const [first, second] = [entries(2), entries(1)];
  write(mount, first);
  for (const row of second) mount.append(row);
  expect(volume.copy().rows).toEqual(first);
});

test('a cut path writes nothing more, by no way', () => {
  const volume = new Volume();
  const mount = new Mount(volume, volume.publish('a'));
  const kept = entries(2);
  write(mount, kept);
  expect(volume.cut('a')).toHaveLength(1);
  expect(volume.cut('a')).toHaveLength(0);
  expect(write(mount, entries(2))).toBe(false);
  mount.writeBack();
  mount.unmount();
  expect(volume.copy().rows).toEqual(kept);
  expect(volume.clean).toBe(false);
});

test('where two write, the later write to a place stands, and neither sees the other', () => {
  const volume = new Volume();
  const victim = new Mount(volume, volume.publish('a'));
  const shared = entries(1);
  write(victim, shared);
  const successor = new Mount(volume, volume.publish('b'));
  const [lost, kept, tail] = [entries(1), entries(1), entries(1)];
  write(victim, lost);
  write(successor, kept);
  write(victim, tail);
  expect(volume.copy().rows).toEqual([...shared, ...kept, ...tail]);
  expect(successor.foreignCommits).toBe(2);
  expect(victim.foreignCommits).toBe(1);
});

test('a zombie’s clean shutdown takes back what the successor wrote', () => {
  const volume = new Volume();
  const victim = new Mount(volume, volume.publish('a'));
  const shared = entries(2);
  write(victim, shared);
  const successor = new Mount(volume, volume.publish('b'));
  write(successor, entries(3));
  victim.writeBack();
  expect(volume.copy().rows).toEqual(shared);
});

test('a clean shutdown with nobody else on the volume changes nothing', () => {
  const volume = new Volume();
  const before = new Mount(volume, volume.publish('a'));
  write(before, entries(2));
  before.unmount();
  volume.unpublish('a', false);
  const mount = new Mount(volume, volume.publish('b'));
  write(mount, entries(1));
  const { rows } = volume.copy();
  mount.writeBack();
  expect(volume.copy().rows).toEqual(rows);
});

test('an unfenced detach is bookkeeping, a fenced one cuts; a new attachment is a new path', () => {
  for (const fenced of [false, true]) {
    const volume = new Volume();
    const path = volume.publish('a');
    expect(volume.publish('a')).toBe(path);
    volume.unpublish('a', fenced);
    expect(path.cut).toBe(fenced);
    expect(volume.published('a')).toBeUndefined();
    expect(volume.publish('a').generation).toBe(path.generation + 1);
  }
});

test('after a crash the attachment stands: a dead device is let go of for a new one', () => {
  const volume = new Volume();
  const crashed = volume.publish('a');
  volume.cut('a');
  volume.renew('a');
  expect(volume.published('a')?.cut).toBe(false);
  expect(volume.published('a')).not.toBe(crashed);
  volume.unpublish('a', true);
  volume.renew('a');
  expect(volume.published('a')).toBeUndefined();
});
