/** The one sequence from prepare to the last audit, and the ports to a cluster, a storage and a database that it needs. */
export * from './crash-states/explore.ts';
export * from './crash-states/plan-states.ts';
export * from './custom.ts';
export { type FaultContext, type LastingFault, lastingFault } from './faults/fault.ts';
export { type BoundedStep, afterInterrupt } from './moments.ts';
export * from './ports/cluster.ts';
export * from './ports/database.ts';
export * from './ports/limits.ts';
export * from './ports/node-shell.ts';
export { type Parts, needsOf, type RunOptions, type VolumeRunOptions } from './run-context.ts';
export { type ImageRun, audit, copyImage, group, oneServer, runScenario } from './run.ts';
export { recordRun, recordVolumes } from './sequence.ts';
export {
  type ObservedOptions,
  type ObservedRun,
  type ObservedVolume,
  each,
  mustHaveEnded,
  runObserved,
  whileObserved,
} from './shell.ts';
export {
  type WriterSpec,
  type Writers,
  runReader,
  changeSchema,
  type WriterRecord,
  runWriter,
} from './workload.ts';
