/** Made-up matrices, outcomes and batches for tests. */
import { expectedOf } from '../../lib/judge/expectation/expectations.ts';
import type { Counts } from '../../lib/scenario/fields.ts';
import type { Batch } from '../../lib/batch/batch.ts';
import { cellsOf } from '../../lib/batch/cells.ts';
import { batchPlanOf, type BatchPlan } from '../../lib/batch/batch-plan.ts';
import { parseMatrix } from '../../lib/batch/matrix.ts';
import type { RunOutcome } from '../../lib/batch/results.ts';

export interface ExampleOptions {
  readonly disks?: number;
  readonly repeats?: number;
  readonly seed?: string;
  /** Adds an axis of rates, one of which disturbs others. */
  readonly loud?: boolean;
  /** What each race came to before. Default: lost, often enough to expect it. */
  readonly counts?: Counts;
}

const disks = ['unfenced', 'fenced', 'ack-early', 'exclusive', 'reservation'];

export function examplePlan(options: ExampleOptions = {}): BatchPlan {
  const { disks: count = 2, repeats = 1, seed = 'seed', loud = false } = options;
  const { counts = { lost: 8 } } = options;
  const text = `
name: example
question: Which?
base: { fault: network-partition }
axes:
  remedy: [none, force-delete]
  disk: [${disks.slice(0, count).join(', ')}]
  ${loud ? 'rate: [25, max]' : ''}
repeats: ${repeats}
`;
  const matrix = parseMatrix(text, 'example.yaml');
  const cells = cellsOf(matrix, (scenario) => expectedOf(scenario, () => counts));
  return batchPlanOf(matrix, cells, seed);
}

export const exampleOutcome = (changes: Partial<RunOutcome> = {}): RunOutcome => ({
  verdict: 'safe',
  safety: 'safe',
  asExpected: true,
  basis: 'measured',
  noticed: null,
  acked: 1000,
  lost: 0,
  missing: null,
  served: null,
  pressure: null,
  downtimeMs: 60_000,
  exposureMs: 0,
  secondMountS: 60,
  sentence: 'A sentence.',
  incompleteBecause: [],
  starved: false,
  worstTimerLagMs: 3,
  timerDistortion: 0.002,
  ...changes,
});

export const exampleBatch = (changes: Partial<Batch> = {}): Batch => ({
  schemaVersion: 1,
  name: 'made up',
  question: 'Which?',
  sentence: 'made up',
  verdict: 'expected',
  inconclusiveBecause: [],
  basis: 'measured',
  cluster: 'kind',
  seed: 'one',
  startedAt: '2026-01-01T00:00:00.000Z',
  replay: 'npx zx experiments/matrix.mjs',
  versions: {},
  busyS: 3600,
  events: 20,
  eventsPerHour: 20,
  worstTimerLagMs: 12,
  timerDistortion: 0.002,
  axes: [],
  cells: [],
  controls: [],
  checks: [],
  contrasts: [],
  differences: [],
  ...changes,
});

/** What each control must come to. */
export const controlOutcomes: Readonly<Record<string, RunOutcome>> = {
  'control-total': exampleOutcome({ verdict: 'corrupt', lost: 1000, noticed: 'loud' }),
  'control-silent': exampleOutcome({ verdict: 'lost', lost: 7, noticed: 'silent' }),
  'control-safe': exampleOutcome(),
};
