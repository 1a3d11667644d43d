/** Many runs: the matrix, its controls and shards, the measurements, what they add up to. */
export { type BatchPlan, type BatchTrial, batchPlanOf } from './batch-plan.ts';
export {
  type Batch,
  type BatchCell,
  type CellDifference,
  type Rate,
  batchSchema,
} from './batch.ts';
export { clustersFor, loadLimitOf, slotsOf } from './capacity.ts';
export { type Cell, cellsOf } from './cells.ts';
export { foldersWith, linesBelow, sourceOf } from './collect-events.ts';
export { eventsOf, sharesCluster } from './events.ts';
export {
  type RemedyRow,
  didInWords,
  hasRuns,
  isMeasured,
  onSuchADisk,
  reasonedInWords,
} from './expectations/on-such-a-disk.ts';
export { expectationFor } from './expectations/races.ts';
export { readRuns } from './expectations/runs.ts';
export { type Matrix, readMatrix } from './matrix-schema.ts';
export { groupLineOf } from './measured-groups.ts';
export {
  type StoredLine,
  dateOf,
  lineSchema,
  linesOf,
  measuredBasis,
  merged,
  noteLines,
  versionsOf,
} from './measurements/store.ts';
export { mergeBatches } from './merge.ts';
export { quoted } from './place.ts';
export { type RunOutcome, cellsFolder, readResults, resultsFile } from './results.ts';
export { type EventPlace, type TrialRun, runBatch } from './run-batch.ts';
export type { Slot } from './schedule.ts';
export { onKubernetes, shorten } from './shorten.ts';
export { batchExitCode, summarizeBatch } from './summarize.ts';
