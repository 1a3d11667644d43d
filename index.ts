/**
 * The public API. A cluster, a database, a storage, a fault and a remedy make an experiment; a run of
 * it comes to a verdict. docs/how-to/use-as-a-library.md shows it.
 */
export {
  experiment,
  type Experiment,
  type ExperimentOptions,
  type FinishedRun,
  type GroupExperimentOptions,
  type RunSettings,
} from './lib/cli/library/experiment.ts';
export {
  kind,
  simulated,
  type ClusterUnderTest,
  type KindOptions,
  type SimulatedOptions,
} from './lib/cli/library/clusters.ts';
export * from './lib/cli/library/parts.ts';

export {
  type CustomLastingFault,
  type OwnCheck,
  type OwnDatabase,
  customDatabase,
  customFault,
  victimShell,
} from './lib/cli/library/own-parts.ts';
export type { CustomDatabase, CustomFault, CustomRemedy } from './lib/run/custom.ts';
export {
  certify,
  onEach,
  stepOf,
  type Fault,
  type FaultContext,
  type Moments,
  type Probe,
  type StruckVolume,
  type LastingContext,
  type LastingFault,
  type Remedy,
  type RemedyContext,
} from './lib/run/faults/fault.ts';
export {
  agentsRun,
  agentsStandStill,
  apiReached,
  isIn,
  proven,
  reachability,
  reachedByClients,
} from './lib/run/faults/probes.ts';
export {
  damage,
  incomplete,
  note,
  type AuditedImage,
  type Checker,
} from './lib/judge/checkers/checker.ts';

export { able, type Able, type Capability } from './lib/core/capabilities.ts';
export type {
  BreakableTestbed,
  NodeKubernetes,
  PodKubernetes,
  Machine,
  MachineWith,
  Disk,
  Proof,
} from './lib/run/ports/cluster.ts';
export type { PodRef } from './lib/history/evidence.ts';
export type {
  ArmedUnit,
  Arming,
  Ended,
  NodeRunOptions,
  NodeShell,
  OutOfBandShell,
  Sent,
} from './lib/run/ports/node-shell.ts';
export type { Database, DatabaseTemplate } from './lib/run/ports/database.ts';
export type { Durability, OwnPart, ServerLog } from './lib/judge/database.ts';
export type { LedgerEntry } from './lib/history/workload.ts';
export { ForcedetachError } from './lib/core/errors.ts';
export type { Scenario } from './lib/scenario/scenario.ts';
export type { Finding, Safety, Verdict, VerdictWord } from './lib/judge/verdict/verdict.ts';
export type { GroupVerdict } from './lib/judge/group/verdict.ts';
export type { FaultKind } from './lib/scenario/faults/index.ts';
export type { RemedyKind } from './lib/scenario/remedies/index.ts';
