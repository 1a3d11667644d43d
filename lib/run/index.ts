/** The one sequence from prepare to the last audit, and the ports to a cluster, a storage and a database that it needs. */
export { type BoundedStep, afterInterrupt } from './bounds.ts';
export {
  describeState,
  describeSummary,
  expectedAfterPowerLoss,
  isExpected,
} from './crash-states/describe.ts';
export {
  type Recovered,
  type Recovery,
  type StateResult,
  explore,
} from './crash-states/explore.ts';
export {
  type CrashStatePlan,
  type PlanOptions,
  type PlannedState,
  planStates,
} from './crash-states/plan-states.ts';
export {
  type KeptWrites,
  keptWrites,
  neededOneWriter,
  readRunFacts,
  runRecord,
} from './crash-states/run-facts.ts';
export { type ByteRange, SectorVersions } from './crash-states/sector-versions.ts';
export { summarizeStates } from './crash-states/summary.ts';
export { type Survivor, survivors } from './crash-states/survivors.ts';
export { VolatileCache } from './crash-states/volatile-cache.ts';
export {
  type Custom,
  type CustomDatabase,
  type CustomFault,
  type CustomRemedy,
  namesOf,
} from './custom.ts';
export type { FaultContext } from './faults/fault.ts';
export { type LastingFault, lastingFault } from './faults/lasting.ts';
export { type ImageRun, audit, copyImage } from './images.ts';
export { type Parts, needsOf } from './needs.ts';
export type {
  Auditor,
  Backend,
  BreakableTestbed,
  Closes,
  CommonTestbed,
  Component,
  ComponentLook,
  ContainerReport,
  ControlPlane,
  GroupTestbed,
  Kubernetes,
  KubernetesTestbed,
  NodeKubernetes,
  Opened,
  OpenedCluster,
  PodKubernetes,
  Testbed,
  TestbedOptions,
} from './ports/cluster.ts';
export type { Database } from './ports/database.ts';
export type {
  GroupDatabase,
  GroupTemplate,
  LedgerQuery,
  LedgerReading,
  MemberClient,
  MemberClientOptions,
} from './ports/group-port.ts';
export { kindCapabilities, kindWorkers, mostPools } from './ports/limits.ts';
export { type Machine, type Stall, stalls } from './ports/machine-port.ts';
export {
  type ArmedUnit,
  type Arming,
  type Ended,
  type NodeRunOptions,
  type NodeShell,
  type OutOfBandShell,
  type Sent,
  type ShellWith,
  type WholeNodeShell,
  posixLine,
  scriptWords,
  shBy,
} from './ports/node-shell.ts';
export { importDatabase, realOf } from './ports/real.ts';
export type {
  BareMachine,
  BareOptions,
  BareServer,
  BareStarted,
  CrashImage,
  DatabaseServer,
  DefinedIn,
  RealDatabase,
  RecoverImage,
  RecoverImageOptions,
  ServerRoutes,
  SessionOptions,
} from './ports/server-port.ts';
export type { Disk, Proof } from './ports/storage.ts';
export {
  type ClusterTimers,
  clusterTimers,
  goDuration,
  stockClusterTimers,
  tolerationSecondsOf,
  withPodTimers,
} from './ports/timers.ts';
export type { RunOptions, VolumeRunOptions } from './run-context.ts';
export { group } from './run-group.ts';
export { oneServer, runScenario } from './run.ts';
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
export type { WriterSpec, Writers } from './workload/port.ts';
export { runReader } from './workload/reader.ts';
export { changeSchema } from './workload/schema-change.ts';
export { type WriterRecord, runWriter } from './workload/writer.ts';
