import { status } from '@grpc/grpc-js';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ModedVolume, volume } from '../../test/support/moded-volume.ts';

let on: ModedVolume;
beforeEach(async () => {
  on = await ModedVolume.make();
});
afterEach(() => on.remove());
const attach = (...of: Parameters<ModedVolume['attach']>): Promise<number> => on.attach(...of);
const open = (node: string): Promise<void> => on.open(node);
const detach = (...of: Parameters<ModedVolume['detach']>): Promise<unknown> => on.detach(...of);
const stateOf = (generation: number): Promise<string | undefined> => on.stateOf(generation);

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
