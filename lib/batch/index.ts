/** Many runs: the matrix, its controls and shards, the measurements, what they add up to. */
export {
  type BatchPlan,
  type BatchTrial,
  batchPlanOf,
  eventsOf,
  sharesCluster,
} from './batch-plan.ts';
export {
  type Batch,
  type BatchCell,
  type CellDifference,
  type Rate,
  batchSchema,
  runsOf,
  sealed,
} from './batch.ts';
export { type Cell, cellsOf, quoted } from './cells.ts';
export { foldersWith, groupLineOf, linesBelow, sourceOf } from './collect.ts';
export {
  type RemedyRow,
  didInWords,
  hasRuns,
  isMeasured,
  onSuchADisk,
  reasonedInWords,
} from './counted.ts';
export { onKubernetes, readMatrix, shorten } from './matrix.ts';
export {
  type StoredLine,
  dateOf,
  expectationFor,
  lineSchema,
  linesOf,
  measuredBasis,
  merged,
  noteLines,
  readRuns,
  versionsOf,
} from './measurements.ts';
export { type RunOutcome, cellsFolder, readResults, resultsFile } from './results.ts';
export {
  type EventPlace,
  type Slot,
  type TrialRun,
  clustersFor,
  loadLimitOf,
  runBatch,
  slotsOf,
} from './run-batch.ts';
export { missingRuns, mustFitItsSeal, mustHaveItsRuns } from './seals.ts';
export { batchExitCode, mergeBatches, summarizeBatch } from './summarize.ts';
