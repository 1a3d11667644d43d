/** A made-up cell of a batch, for tests of its page only. */
import type { BatchCell } from '../../lib/batch/batch.ts';
import { wilson } from '../../lib/core/numbers.ts';

/** `damaged` of ten events. */
export const exampleCell = (
  label: string,
  verdict: BatchCell['verdict'],
  damaged: number,
): BatchCell => ({
  id: `cell-${label}`,
  label,
  place: { disk: label },
  verdict,
  expected: [verdict],
  expectedServing: 'open',
  because: 'made up',
  asExpected: true,
  verdicts: { safe: 0, exposed: 0, lost: 0, corrupt: 0, inconclusive: 0 },
  damaged: { count: damaged, of: 10, ...wilson(damaged, 10) },
  unsafe: { count: damaged, of: 10, ...wilson(damaged, 10) },
  silent: 0,
  median: {
    ...{ lost: damaged, unreadableBeforeHeal: null, gone: null, missingAfterHeal: null },
    acked: 1000,
    downtimeS: 400 + damaged,
    exposureS: 0,
    secondMountS: 400,
  },
  runs: [{ folder: `cells/${label}`, verdict, sentence: 'made up' }],
  discarded: 0,
});
