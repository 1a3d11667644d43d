import { expect, test } from 'vitest';
import { Chain, type LedgerEntry } from '../../history/workload.ts';
import { Chance, Kernel } from '../kernel.ts';
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

test('a file system that was made read-only writes nothing at its unmount', () => {
  const volume = volumeOf();
  const victim = new Mount(volume, volume.publish('a'));
  write(victim, entries(1));
  victim.remountReadOnly(ignore);
  const successor = new Mount(volume, volume.publish('b'));
  write(successor, entries(2));
  const { rows } = volume.copy();
  expect(write(victim, entries(1))).toBe(false);
  victim.unmount(ignore);
  expect(volume.copy()).toMatchObject({ rows, damage: undefined });
});

test('a killed server’s pages go over its successor’s, at the latest when its file system goes', () => {
  const broken = (go: (victim: Mount) => void): number =>
    Array.from({ length: 40 }, (_, seed) => volumeOf({ chance: Chance.of(String(seed)) })).filter(
      (volume) => {
        const victim = new Mount(volume, volume.publish('a'));
        victim.begin();
        const successor = new Mount(volume, volume.publish('b'));
        write(successor, entries(2));
        go(victim);
        return volume.copy().damage !== undefined;
      },
    ).length;
  expect(broken(ignore)).toBe(0);
  expect(broken((victim) => victim.unmount(ignore))).toBeGreaterThan(30);
  expect(broken((victim) => victim.remountReadOnly(ignore))).toBeGreaterThan(30);
});

test('a file system that is made read-only keeps its watch, and takes writes again once it is given back', () => {
  const volume = volumeOf();
  const victim = new Mount(volume, volume.publish('a'));
  victim.remountReadOnly(ignore);
  expect([victim.path.writes, volume.watchers('b').length]).toEqual([false, 1]);
  victim.remountWritable();
  expect([victim.path.writes, write(victim, entries(1))]).toEqual([true, true]);
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

test('what hangs is answered by nothing but a later cut', () => {
  const volume = volumeOf();
  const mount = new Mount(volume, volume.publish('a'));
  volume.setLink('a', 'stall');
  const answers: boolean[] = [];
  mount.append(chain.next());
  mount.sync((done) => answers.push(done));
  expect(volume.cut(volume.pathsOf('a'), true)).toHaveLength(1);
  volume.setLink('a', 'fail');
  volume.setLink('a', 'pass');
  mount.sync((done) => answers.push(done));
  expect([answers, mount.path.held, mount.path.writes]).toEqual([[], 2, false]);
  expect(volume.losePower('a', 'keeps')).toHaveLength(0);
  expect([answers, mount.path.held]).toEqual([[false, false], 0]);
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
