/** Thousands of schedules on the model, what they found, and the smallest that still finds it. */
export { mustBeAllowedIn } from './on-cluster/access.ts';
export { type ImageChoice, imageFor } from './on-cluster/image.ts';
export { newSweepNamespace, reapSweeps } from './on-cluster/namespace.ts';
export { type ClusterSweep, sweepOnCluster } from './on-cluster/run-shards.ts';
export { sweepPool } from './pool.ts';
export { type SweepReport, reportOf, sweepLines } from './report.ts';
export { readSchedule } from './schedule-file.ts';
export { shrunkFindings } from './shrink.ts';
export {
  type SweepState,
  islandCount,
  islandEnd,
  newSweep,
  sweep,
  sweepStateSchema,
} from './sweep.ts';
