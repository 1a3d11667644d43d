import { expect, test } from 'vitest';
import { Chain } from '../../../workload/ledger.ts';
import type { LedgerEntry } from '../../../workload/sql.ts';
import { Chance } from '../chance.ts';
import { Kernel } from '../kernel.ts';
import { Mount } from './mount.ts';
import { Volume, type VolumeOptions } from './volume.ts';

const chain = new Chain('seed', { client: 'inside', connection: 0, session: 0 });
const entries = (count: number): LedgerEntry[] => Array.from({ length: count }, () => chain.next());
const volumeOf = (options: Omit<VolumeOptions, 'clock'> = {}): Volume =>
  new Volume({ clock: new Kernel(), ...options });

/** What the disk answered; undefined while it holds the write. */
function write(mount: Mount, rows: readonly LedgerEntry[]): boolean | undefined {
  let answer: boolean | undefined;
  for (const row of rows) mount.append(row);
  mount.sync((done) => {
    answer = done;
  });
  return answer;
}
const ignore = (): void => undefined;

test('what was synced is on the image, what was only appended is not', () => {
  const volume = volumeOf();
  const mount = new Mount(volume, volume.publish('a'));
  const [first, second] = [entries(2), entries(1)];
  expect(write(mount, first)).toBe(true);
  for (const row of second) mount.append(row);
  expect(volume.copy().rows).toEqual(first);
});

test('a row is durable once the disk has said so, and not before', () => {
  const volume = volumeOf();
  const mount = new Mount(volume, volume.publish('a'));
  const [first] = entries(1);
  if (first !== undefined) mount.append(first);
  expect([mount.newest, mount.newestDurable]).toEqual([first, undefined]);
  mount.sync(ignore);
  expect(mount.newestDurable).toBe(first);
  mount.reread();
  expect(mount.newestDurable).toBe(first);
});

test('a cut path writes nothing more, by no way', () => {
  const volume = volumeOf();
  const mount = new Mount(volume, volume.publish('a'));
  const kept = entries(2);
  write(mount, kept);
  expect(volume.cut(volume.pathsOf('a'))).toHaveLength(1);
  expect(volume.cut(volume.pathsOf('a'))).toHaveLength(0);
  expect(write(mount, entries(2))).toBe(false);
  mount.writeBack(ignore);
  mount.unmount(ignore);
  expect(volume.copy().rows).toEqual(kept);
  expect(volume.clean).toBe(false);
});

test('where two write, the later write to a place stands, and neither sees the other', () => {
  const volume = volumeOf();
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
  const volume = volumeOf();
  const victim = new Mount(volume, volume.publish('a'));
  const shared = entries(2);
  write(victim, shared);
  const successor = new Mount(volume, volume.publish('b'));
  write(successor, entries(3));
  victim.writeBack(ignore);
  expect(volume.copy().rows).toEqual(shared);
});

test('what a killed server left is written at the unmount, over a successor’s pages too', () => {
  const damages = Array.from({ length: 20 }, (_, seed) => {
    const volume = volumeOf({ chance: Chance.of(String(seed)) });
    const victim = new Mount(volume, volume.publish('a'));
    victim.begin();
    write(victim, entries(1));
    write(new Mount(volume, volume.publish('b')), entries(1));
    victim.unmount(ignore);
    return volume.damage;
  });
  expect(damages.filter((damage) => damage !== undefined).length).toBeGreaterThan(10);
});

test('an idle server’s shutdown beside a successor breaks trees, though neither committed', () => {
  const damagesWith = (begins: boolean): number =>
    Array.from({ length: 20 }, (_, seed) => {
      const volume = volumeOf({ chance: Chance.of(String(seed)) });
      const victim = new Mount(volume, volume.publish('a'));
      victim.begin();
      const successor = new Mount(volume, volume.publish('b'));
      if (begins) successor.begin();
      victim.writeBack(ignore);
      return volume.damage;
    }).filter((damage) => damage !== undefined).length;
  expect(damagesWith(true)).toBeGreaterThan(10);
  expect(damagesWith(false)).toBe(0);
});

test('a file system that was made read-only writes nothing at its unmount', () => {
  const volume = volumeOf();
  const victim = new Mount(volume, volume.publish('a'));
  write(victim, entries(1));
  victim.remountReadOnly();
  const successor = new Mount(volume, volume.publish('b'));
  write(successor, entries(2));
  const { rows } = volume.copy();
  expect(write(victim, entries(1))).toBe(false);
  victim.unmount(ignore);
  expect(volume.copy()).toMatchObject({ rows, damage: undefined });
});

test('one kernel lets one server have the files of a mount', () => {
  const volume = volumeOf();
  const mount = new Mount(volume, volume.publish('a'));
  const [first, second] = [{}, {}];
  expect([mount.lock(first), mount.lock(second), mount.lock(first)]).toEqual([true, false, true]);
  mount.unlock(second);
  expect(mount.lock(second)).toBe(false);
  mount.unlock(first);
  expect(mount.lock(second)).toBe(true);
});

test('a clean shutdown with nobody else on the volume changes nothing', () => {
  const volume = volumeOf();
  const before = new Mount(volume, volume.publish('a'));
  write(before, entries(2));
  before.unmount(ignore);
  volume.unpublish('a');
  const mount = new Mount(volume, volume.publish('b'));
  write(mount, entries(1));
  const { rows } = volume.copy();
  mount.writeBack(ignore);
  expect(volume.copy().rows).toEqual(rows);
});

test('what a stalled link holds is replayed over what others wrote, and only then answered', () => {
  const volume = volumeOf();
  const victim = new Mount(volume, volume.publish('a'));
  const shared = entries(1);
  write(victim, shared);
  volume.setLink('a', 'stall');
  const late = entries(2);
  const answers: boolean[] = [];
  for (const row of late) {
    victim.append(row);
    victim.sync((done) => answers.push(done));
  }
  const successor = new Mount(volume, volume.publish('b'));
  const taken = entries(1);
  write(successor, taken);
  expect(volume.copy().rows).toEqual([...shared, ...taken]);
  expect([answers, victim.path.held]).toEqual([[], 2]);
  volume.setLink('a', 'pass');
  expect(volume.copy().rows).toEqual([...shared, ...late]);
  expect([answers, victim.path.held]).toEqual([[true, true], 0]);
});

test('what is held by a path that is cut never comes', () => {
  const volume = volumeOf();
  const mount = new Mount(volume, volume.publish('a'));
  volume.setLink('a', 'stall');
  expect(write(mount, entries(1))).toBeUndefined();
  volume.cut(volume.pathsOf('a'));
  volume.setLink('a', 'pass');
  expect(volume.copy().rows).toEqual([]);
});

test('an I/O error ends the file system: it takes no writes after the link is back', () => {
  const volume = volumeOf();
  const mount = new Mount(volume, volume.publish('a'));
  volume.setLink('a', 'fail');
  expect(write(mount, entries(1))).toBe(false);
  volume.setLink('a', 'pass');
  expect(write(mount, entries(1))).toBe(false);
  expect(volume.copy().rows).toEqual([]);
});

test('a disk that ignores flushes loses what it acknowledged, the file system too', () => {
  const volume = volumeOf({ ignoresFlushes: true });
  const mount = new Mount(volume, volume.publish('a'));
  expect(write(mount, entries(2))).toBe(true);
  mount.writeFile('canary', 'there', { synced: true });
  volume.losePower('a', 'drops');
  expect(volume.copy()).toMatchObject({ rows: [], canaries: {}, made: undefined });
  expect(new Mount(volume, volume.publish('b')).volume.made).toBe(2);
});

test.each(['keeps', 'reorders', 'tears'] as const)('a loss of power that %s', (powerLoss) => {
  for (const ignoresFlushes of [false, true]) {
    const volume = volumeOf({ ignoresFlushes });
    const mount = new Mount(volume, volume.publish('a'));
    const rows = entries(2);
    write(mount, rows);
    volume.losePower('a', powerLoss);
    const { damage } = volume.copy();
    expect(volume.copy().rows).toEqual(rows);
    expect(damage !== undefined).toBe(ignoresFlushes && powerLoss !== 'keeps');
  }
});
