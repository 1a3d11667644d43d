import { expect, test } from 'vitest';
import { patiently } from './command.ts';

const { signal } = new AbortController();

/** Results in turn, and how many were asked for. */
async function tried(...results: readonly string[]): Promise<[string, number]> {
  let asked = 0;
  const last = await patiently({
    work: () => Promise.resolve(results[asked++] ?? 'never'),
    isTrouble: (result) => result === 'trouble',
    signal,
    waitMs: 0,
  });
  return [last, asked];
}

test('what went well, or badly in earnest, is not tried again', async () => {
  expect(await tried('well')).toEqual(['well', 1]);
  expect(await tried('damaged')).toEqual(['damaged', 1]);
});

test('trouble is tried again, three times at most', async () => {
  expect(await tried('trouble', 'well')).toEqual(['well', 2]);
  expect(await tried('trouble', 'trouble', 'trouble', 'well')).toEqual(['trouble', 3]);
});

test('an abort ends the wait', async () => {
  const aborter = new AbortController();
  const waiting = patiently({
    work: () => Promise.resolve(aborter.abort(new Error('ended'))),
    isTrouble: () => true,
    signal: aborter.signal,
  });
  await expect(waiting).rejects.toThrow();
});
