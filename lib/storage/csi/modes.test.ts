import { afterEach, beforeEach, expect, test } from 'vitest';
import { ModedVolume } from '../../../test/support/moded-volume.ts';

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
