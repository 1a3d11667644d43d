/** What every other room is made of: errors, time, random, text, numbers, files, and access to a Kubernetes API. */
export { type Able, type Capability, able, capabilities, capabilitiesBut } from './capabilities.ts';
export { isCheckout, needCheckout, projectRoot } from './checkout.ts';
export type { Clock } from './clock.ts';
export { clusterNameRule, isClusterName } from './cluster-name.ts';
export type { CommandEvidence } from './command-evidence.ts';
export { countInWords, meanOf, medianOf, plural, sumOf } from './counts.ts';
export {
  formatDuration,
  longestMs,
  parseDurationMs,
  secondsInWords,
  secondsShown,
  silencesIn,
  toldInSeconds,
  toldSpan,
} from './durations.ts';
export {
  type ErrorDetail,
  EvidenceError,
  type ExitCode,
  ForcedetachError,
  InfrastructureError,
  InterruptError,
  UsageError,
  describeError,
  exitCode,
} from './errors.ts';
export type { Immutable } from './immutable.ts';
export {
  mebibyte,
  openInput,
  readFolder,
  readInput,
  readText,
  textFileBytes,
} from './input-file.ts';
export { type Count, difference, fisher, significance, wilson } from './intervals.ts';
export { type JsonKind, readJson } from './json-file.ts';
export {
  type KubeClients,
  apply,
  changeTaints,
  isReady,
  kubeClients,
  orMissing,
  statusOf,
} from './kube.ts';
export { type ApiServer, kubernetesGet } from './kubernetes-get.ts';
export {
  type DurationRange,
  kubernetesTimes,
  msUs,
  rangeMs,
  secondUs,
} from './kubernetes-times.ts';
export {
  type FeatureGates,
  asksLeaseAgain,
  gatesText,
  isKubernetes,
  kubernetesBeforeNamed,
  kubernetesDefault,
  kubernetesMinors,
  kubernetesReleases,
  kubernetesWords,
  minorOf,
  modelledGates,
  releaseOf,
  restartGate,
} from './kubernetes-versions.ts';
export { type Lock, awaitLock, holderOf, takeFreeLock, tryLock } from './lock.ts';
export { markdownTable } from './markdown-table.ts';
export { moduleBeside } from './module-beside.ts';
export { nearestOf } from './nearest.ts';
export { OutputFile, writeOutput } from './output-file.ts';
export {
  type Owner,
  type OwnerState,
  currentOwner,
  decodeOwner,
  encodeOwner,
  ownerState,
} from './owner.ts';
export { plainText } from './plain-text.ts';
export { projectVersion } from './project-version.ts';
export { type RandomStream, key32, mix32, randomStream } from './random.ts';
export { type RealClock, realClock } from './real-clock.ts';
export { privateFolder, stateHome } from './state-home.ts';
export { outOfServiceKey, outOfServiceTaint } from './taints.ts';
export { isPreset, paste, scriptArguments, startedAs, typed, typedAgain } from './typed.ts';
export {
  type Need,
  type UserClients,
  type UserCluster,
  answered,
  askingFor,
  forbidden,
  kubectl,
  missingRights,
  mustBeAllowed,
  needText,
  userClients,
} from './user-cluster.ts';
export { waitFor } from './wait-for.ts';
export {
  type When,
  type WhenEvent,
  delayedOf,
  faultEvents,
  isSeen,
  remedyEvents,
  undoEvents,
  whenInWords,
} from './when.ts';
export { WorkerPool, answerTasks } from './worker-pool.ts';
export { type FileKind, type OnHint, parseYaml, readYaml } from './yaml-file.ts';
export { type ZoneState, taintRate, zoneLimits, zoneLimitsText, zoneState } from './zone-limits.ts';
