import { status } from '@grpc/grpc-js';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { NodeTaints } from './modes.ts';
import { ModedVolume, volume, seconds } from '../../test/support/moded-volume.ts';

let on: ModedVolume;
beforeEach(async () => {
  on = await ModedVolume.make();
});
afterEach(() => on.remove());
const attach = (...of: Parameters<ModedVolume['attach']>): Promise<number> => on.attach(...of);
const open = (node: string): Promise<void> => on.open(node);
const detach = (...of: Parameters<ModedVolume['detach']>): Promise<unknown> => on.detach(...of);
const stateOf = (generation: number): Promise<string | undefined> => on.stateOf(generation);

test('unfenced: the node keeps its path', async () => {
  await attach('a', 'unfenced');
  await open('a');
  await detach('a');
  expect(await stateOf(1)).toBe('open');
});

test('fenced: every path of the node is cut before the answer, also one never opened', async () => {
  await attach('a', 'unfenced');
  await open('a');
  await detach('a');
  await attach('a', 'fenced');
  expect(await detach('a')).toMatchObject([{ generation: 1 }]);
  expect(await stateOf(1)).toBe('cut');
  await expect(open('a')).rejects.toMatchObject({ code: 'PATH_CUT' });
  expect(await detach('a')).toEqual([]);
});

test('ack-early: the cut comes by itself, that much after the answer, and only once', async () => {
  await attach('a', 'ack-early', { context: { cutAfterMs: '5000' } });
  await open('a');
  await detach('a');
  expect(await stateOf(1)).toBe('open');
  expect(on.notes).toMatchObject({ cutAfterMs: 5000, toBeCut: [1] });
  on.array.clockNs += 4.9 * seconds;
  expect(await stateOf(1)).toBe('open');
  on.array.clockNs += 0.2 * seconds;
  expect(await stateOf(1)).toBe('cut');
});

test.each([
  [[], 'open', false],
  [['node.kubernetes.io/unreachable'], 'open', false],
  [['node.kubernetes.io/out-of-service'], 'cut', true],
])('fence-if-out-of-service: taints %j leave the path %s', async (keys, state, found) => {
  await attach('a', 'fence-if-out-of-service');
  await open('a');
  await detach('a', { keysOf: () => Promise.resolve(keys) });
  expect(await stateOf(1)).toBe(state);
  expect(on.notes['outOfServiceTaint']).toBe(found);
});

test('fence-if-out-of-service: without an answer nothing is detached', async () => {
  await attach('a', 'fence-if-out-of-service');
  const mute: NodeTaints = { keysOf: () => Promise.reject(new TypeError('no answer')) };
  await expect(detach('a', mute)).rejects.toMatchObject({ code: status.UNAVAILABLE });
  await expect(attach('b', 'fence-if-out-of-service')).rejects.toThrow(/attached to a/);
});

test('pending-while-busy: refused while mounted, here and elsewhere; a dead node is not', async () => {
  const anywhere = { manyNodes: true };
  await attach('a', 'pending-while-busy', anywhere);
  await open('a');
  on.array.use(volume, 1, { claimed: true });
  const busy = { code: status.FAILED_PRECONDITION };
  await expect(detach('a')).rejects.toMatchObject(busy);
  await expect(attach('b', 'pending-while-busy', anywhere)).rejects.toMatchObject(busy);
  on.array.use(volume, 1, { claimed: false });
  await detach('a');
  expect(await stateOf(1)).toBe('cut');
  expect(await attach('b', 'pending-while-busy', anywhere)).toBe(2);
});

test.each(['unfenced', 'fenced'] as const)(
  '%s: where attach is granted, the record of one node keeps no other away',
  async (mode) => {
    await attach('a', mode);
    await open('a');
    await expect(attach('b', mode)).rejects.toThrow(/attached to a/);
    expect(await attach('b', mode, { context: { attachWhileBusy: 'granted' } })).toBe(2);
    await detach('a');
    const rest = { unfenced: 'open', fenced: 'cut' };
    expect(await stateOf(1)).toBe(rest[mode]);
  },
);

test('pending-while-busy: where attach is granted, only the detach is refused', async () => {
  const context = { attachWhileBusy: 'granted' };
  await attach('a', 'pending-while-busy', { context });
  await open('a');
  on.array.use(volume, 1, { claimed: true });
  await expect(detach('a')).rejects.toMatchObject({ code: status.FAILED_PRECONDITION });
  expect(await attach('b', 'pending-while-busy', { context })).toBe(2);
  expect(await stateOf(1)).toBe('open');
});

test('shared-file: the block driver refuses it', async () => {
  await attach('a', 'shared-file');
  await expect(open('a')).rejects.toMatchObject({ code: status.FAILED_PRECONDITION });
});

test('one node at a time, unless the volume was declared for many', async () => {
  await attach('a', 'unfenced');
  const second = attach('b', 'unfenced');
  await expect(second).rejects.toMatchObject({ code: status.FAILED_PRECONDITION });
  expect(await attach('b', 'unfenced', { manyNodes: true })).toBe(2);
});
