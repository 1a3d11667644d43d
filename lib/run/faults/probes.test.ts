import { expect, test } from 'vitest';
import type { Machine } from '../ports/cluster.ts';
import { apiReached } from './probes.ts';

/** A node whose API server answers as told, one answer a question. */
const answering = (...answers: readonly boolean[]): Machine => {
  const left = [...answers];
  return { node: 'victim', reachesApi: async () => left.shift() } as unknown as Machine;
};

test.each([
  ['at once', true, [true], true, 'victim → API server: reached'],
  ['late', true, [false, false, true], true, 'victim → API server: reached, asked 3 times'],
  ['never', true, [false, false, false], false, 'victim → API server: not reached, asked 3 times'],
  ['not at all, as it must be', false, [false], true, 'victim → API server: not reached'],
  ['against what must be', false, [true], false, 'victim → API server: reached'],
] as const)('reached %s', async (_, expected, answers, holds, evidence) => {
  expect(await apiReached(answering(...answers), expected).ask()).toEqual({ holds, evidence });
});
