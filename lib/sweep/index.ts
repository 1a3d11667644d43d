/** Thousands of schedules on the model, what they found, and the smallest that still finds it. */
export { readSchedule, shrunkFindings } from './findings.ts';
export { mustBeAllowedIn, newSweepNamespace, reapSweeps } from './on-cluster/namespace.ts';
export {
  type ImageChoice,
  imageFor,
  sweepOnCluster,
} from './on-cluster/run-shards.ts';
export { type SweepReport, reportOf, sweepLines } from './report.ts';
export {
  type SweepState,
  islandCount,
  islandEnd,
  newSweep,
  sweep,
  sweepPool,
  sweepStateSchema,
} from './sweep.ts';
