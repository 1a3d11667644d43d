/** Modes that decide when a node opens the volume: who has it open keeps others away, or is cut. */
import { status } from '@grpc/grpc-js';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { neededRecord } from './record.ts';
import { ModedVolume, volume, seconds } from '../../../test/support/moded-volume.ts';

let on: ModedVolume;
beforeEach(async () => {
  on = await ModedVolume.make();
});
afterEach(() => on.remove());
const attach = (...of: Parameters<ModedVolume['attach']>): Promise<number> => on.attach(...of);
const open = (node: string): Promise<void> => on.open(node);
const detach = (...of: Parameters<ModedVolume['detach']>): Promise<unknown> => on.detach(...of);
const stateOf = (generation: number): Promise<string | undefined> => on.stateOf(generation);

test.each([
  ['a cut', () => on.array.losePower({ volume, node: 'a', unflushed: 'keeps', seed: '' })],
  ['a stalled link', () => on.array.link({ node: 'a', state: 'stall' })],
])('exclusive: after %s the watch runs out in 30 s', async (_, fall) => {
  await attach('a', 'exclusive');
  await open('a');
  await detach('a');
  await attach('b', 'exclusive');
  await fall();
  on.array.clockNs += 29.9 * seconds;
  await expect(open('b')).rejects.toThrow(/still being used by a/);
  on.array.clockNs += 0.2 * seconds;
  await open('b');
});

test('exclusive: a silent writer whose link comes back writes beside its successor', async () => {
  await attach('a', 'exclusive');
  await open('a');
  await detach('a');
  await on.array.link({ node: 'a', state: 'stall' });
  on.array.clockNs += 31 * seconds;
  await attach('b', 'exclusive');
  await open('b');
  await on.array.link({ node: 'a', state: 'pass' });
  expect([await stateOf(1), await stateOf(2)]).toEqual(['open', 'open']);
});

test('exclusive: no answer about watchers fails, but for an image that nobody else ever had', async () => {
  const context = { watcherCheck: 'missing' };
  await attach('a', 'exclusive', { context });
  await open('a');
  await on.array.close({ volume, generation: 1 });
  await detach('a');
  await attach('b', 'exclusive', { context });
  await expect(open('b')).rejects.toMatchObject({ code: status.INTERNAL });
});

test('exclusive: of two that ask at once both may find nobody, and both open', async () => {
  const anywhere = { manyNodes: true };
  await attach('a', 'exclusive', anywhere);
  await attach('b', 'exclusive', anywhere);
  // Nobody opens before both were told that they may.
  const bothMay = Promise.withResolvers<void>();
  let opening = 0;
  on.array.before = (request) => {
    if (request !== 'open') return undefined;
    opening += 1;
    if (opening === 2) bothMay.resolve();
    return bothMay.promise;
  };
  await Promise.all([open('a'), open('b')]);
  expect([await stateOf(1), await stateOf(2)]).toEqual(['open', 'open']);
});

test('reservation: of two that register at once the first wins, and keeps its path', async () => {
  await attach('a', 'reservation', { manyNodes: true });
  await attach('b', 'reservation', { manyNodes: true });
  await open('a');
  await expect(open('b')).rejects.toMatchObject({ code: status.FAILED_PRECONDITION });
  expect(await stateOf(1)).toBe('open');
  const { attachments } = await neededRecord(on.backend.layout, volume);
  expect(attachments.map(({ state }) => state)).toEqual(['attached', 'cut']);
});

test('reservation: a staging that goes on late takes nothing from the new registrant', async () => {
  await attach('a', 'reservation');
  await detach('a');
  await attach('b', 'reservation');
  await open('b');
  await expect(open('a')).rejects.toMatchObject({ code: status.FAILED_PRECONDITION });
  expect(await stateOf(2)).toBe('open');
});
