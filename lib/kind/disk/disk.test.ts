import { expect, test } from 'vitest';
import type { Lab } from './containers.ts';
import { fencedProof, kindDisk, powerLost, severed, type DiskStatus } from './disk.ts';

const device = { device: '/dev/loop128', generation: 2, bytesWritten: 4096 };
const at = { node: 'w1', volume: 'v' };

test('a loss of power is proven by every path of the node to the volume', () => {
  const silent = { volume: 'v', unflushedWrites: 3, unflushedBytes: 12_288, kept: 1 };
  const lost = [{ ...silent, canaryAt: 5 }];
  const path = { ...device, node: 'w1', loop: 128 };
  const statusWith = (...devices: DiskStatus[number]['devices']): DiskStatus => [
    { volume: 'other', devices: [{ ...path, cut: false }] },
    { volume: 'v', devices: [...devices, { ...path, node: 'w2', cut: false }] },
  ];
  const dead = powerLost(lost, statusWith({ ...path, cut: true }), at);
  expect(dead.verified).toBe(true);
  expect(dead.evidence).toContain('3 writes (12288 bytes) were acknowledged and not flushed');
  const alive = statusWith({ ...path, cut: true }, { ...path, generation: 3, cut: false });
  expect(powerLost(lost, alive, at).verified).toBe(false);
  expect(
    powerLost([{ ...silent, canaryError: 'NOT_MOUNTED' }], statusWith({ ...path, cut: true }), at),
  ).toMatchObject({
    verified: false,
    evidence: expect.stringContaining('NO UNSYNCED CANARY WAS WRITTEN: NOT_MOUNTED'),
  });
  expect(powerLost([], statusWith(), at)).toEqual({
    verified: false,
    evidence: 'w1 has no device of v',
  });
});

test('a fence is proven by every path, and by there being none', () => {
  const path = { ...device, node: 'w1', loop: 128 };
  const statusWith = (...devices: DiskStatus[number]['devices']): DiskStatus => [
    { volume: 'v', devices: [...devices, { ...path, node: 'w2', cut: false }] },
  ];
  expect(fencedProof(statusWith({ ...path, cut: true }), at).verified).toBe(true);
  expect(fencedProof(statusWith({ ...path, cut: false }), at)).toMatchObject({
    verified: false,
    evidence: expect.stringContaining('WAS NOT CUT'),
  });
  expect(fencedProof(statusWith(), at)).toEqual({
    verified: true,
    evidence: 'w1 has no device of v',
  });
});

test('a severed link is proven by the paths that still could serve', () => {
  const path = { ...device, volume: 'v', cut: false, link: 'stall', held: 7 } as const;
  const stalled = severed({ link: 'stall', devices: [path] }, { ...at, how: 'stalls' });
  expect(stalled).toEqual({
    verified: true,
    evidence: 'the link under /dev/loop128 (generation 2): stall, 7 requests held',
  });
  expect(severed({ link: 'stall', devices: [path] }, { ...at, how: 'errors' }).verified).toBe(
    false,
  );
  const cut = { ...path, cut: true };
  expect(severed({ link: 'stall', devices: [cut] }, { ...at, how: 'stalls' }).verified).toBe(false);
});

test('the storage network is cut before the array logs that, and joined after it', async () => {
  const done: string[] = [];
  const path = { device: '/dev/loop128', generation: 2, volume: 'v', cut: false, held: 0 };
  const lab: Lab = {
    container: 'lab',
    stream: () => Promise.reject(new Error('no stream')),
    exec(argv) {
      done.push(argv.filter((word) => !/[./=]|^node$|^env$/.test(word)).join(' '));
      const link = argv.includes('sever') ? 'stall' : 'pass';
      return Promise.resolve(JSON.stringify({ link, devices: [{ ...path, link }] }));
    },
  };
  const move = (to: string) => (): Promise<{ verified: boolean; evidence: string }> => {
    done.push(to);
    return Promise.resolve({ verified: to !== 'on', evidence: `w1 is ${to} the network` });
  };
  const disk = kindDisk({
    ...{ lab, volume: 'v', mode: 'unfenced', powerLoss: 'keeps', seed: '', originNs: 0n },
    storage: { cut: move('off'), join: move('on') },
    machine: () => ({ state: () => Promise.reject(), stopServers: () => Promise.reject() }),
  });
  const cut = await disk.sever?.('w1', 'stalls');
  expect(cut?.verified).toBe(true);
  expect(cut?.evidence).toContain('w1 is off the network\nthe link under /dev/loop128');
  // What either of the two cannot prove is not proven.
  expect((await disk.restore?.('w1'))?.verified).toBe(false);
  expect(done).toEqual(['off', 'sever --node w1 --how stalls', 'restore --node w1', 'on']);
});
