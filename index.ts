/**
 * The public API. A cluster, a database, a storage, a fault and a remedy make an experiment; a run of
 * it comes to a verdict. docs/how-to/use-as-a-library.md shows it.
 */
export { experiment } from './lib/library/experiment.ts';
export type {
  Experiment,
  ExperimentOptions,
  FinishedRun,
  GroupExperimentOptions,
  RunSettings,
} from './lib/library/experiment.ts';
export { kind, simulated } from './lib/library/clusters.ts';
export type { ClusterUnderTest, KindOptions, SimulatedOptions } from './lib/library/clusters.ts';
export * from './lib/library/parts.ts';

export { customFault, victimShell } from './lib/library/own-parts.ts';
export type { CustomLastingFault } from './lib/library/own-parts.ts';
export { customDatabase } from './lib/library/own-database.ts';
export type { OwnCheck, OwnDatabase } from './lib/library/own-database.ts';
export type { CustomDatabase, CustomFault, CustomRemedy } from './lib/experiment/run/custom.ts';
export { certify, onEach, stepOf } from './lib/faults/fault.ts';
export type { Fault, FaultContext, Moments, Probe, StruckVolume } from './lib/faults/fault.ts';
export type { LastingContext, LastingFault } from './lib/faults/lasting.ts';
export {
  agentsRun,
  agentsStandStill,
  apiReached,
  isIn,
  proven,
  reachability,
  reachedByClients,
} from './lib/faults/probes.ts';
export type { Remedy, RemedyContext } from './lib/remedies/remedy.ts';
export { damage, incomplete, note } from './lib/checkers/findings.ts';
export type { AuditedImage, Checker, OwnChecks } from './lib/checkers/checker.ts';

export { able } from './lib/capabilities.ts';
export type { Able, Capability } from './lib/capabilities.ts';
export type {
  BreakableTestbed,
  NodeKubernetes,
  PodKubernetes,
  PodRef,
} from './lib/cluster/port.ts';
export type { Machine, MachineWith } from './lib/cluster/machine-port.ts';
export type {
  ArmedUnit,
  Arming,
  Ended,
  NodeRunOptions,
  NodeShell,
  OutOfBandShell,
  Sent,
} from './lib/cluster/node-shell.ts';
export type {
  Database,
  DatabaseTemplate,
  Durability,
  MachineTrouble,
  OwnPart,
  ServerLog,
} from './lib/database/port.ts';
export type { Disk, Proof } from './lib/storage/port.ts';
export type { LedgerEntry } from './lib/workload/sql.ts';
export { ForcedetachError } from './lib/errors.ts';
export type { Scenario } from './lib/experiment/scenario.ts';
export type { Finding, Safety, Verdict, VerdictWord } from './lib/experiment/verdict/verdict.ts';
export type { GroupVerdict } from './lib/group-replication/verdict.ts';
export type { FaultKind } from './lib/faults/kinds/index.ts';
export type { RemedyKind } from './lib/remedies/kinds/index.ts';
