/** What a run may be asked: faults, remedies, disks, databases, workload and timers, each declared once with its fields. */
export { kubernetesText, stockTimers } from './cluster.ts';
export { contradictions, isKept, refusals, takenOf } from './contradictions.ts';
export {
  type GroupSettings,
  groupReplication,
  groupSettingsOf,
  groupSettingsSchema,
  groupSize,
} from './databases/group-replication.ts';
export {
  type DatabaseChoice,
  type DatabaseKind,
  databaseDeclarations,
  databaseKindNamed,
  stockDatabase,
  stockDatabaseKind,
} from './databases/index.ts';
export {
  type Filesystem,
  type LinkState,
  type PowerLoss,
  type SeveredLink,
  type StorageLink,
  linkStateOf,
  linkStates,
  powerLosses,
  storageLinks,
} from './disk-kinds.ts';
export { type Absence, CallBook, callRulesOf } from './disks/calls.ts';
export { type DiskOrigin, originInWords } from './disks/disk-origin.ts';
export {
  type Driver,
  type DriverMode,
  type Sign,
  driverServing,
  driversCalled,
  driversLike,
} from './disks/drivers.ts';
export { watchTimeoutMs } from './disks/exclusive.ts';
export { type DiskMode, diskModeOf, diskModes, isDirectory } from './disks/index.ts';
export type { CutTime, DiskModeDeclaration, RefusalReason } from './disks/mode.ts';
export {
  type FaultKind,
  alsoNameOf,
  controlPlaneFaults,
  cutsClientsOff,
  delaysNotReady,
  faultDeclarations,
  faultKinds,
  faultNamed,
  isAskedAgain,
  isOverAtOnce,
  bootsAtHeal,
  endsMachine,
  losesPower,
  powerFaults,
  questionOf,
  sharesEvents,
  silencesApi,
  silencesKubelet,
  sparesVictim,
  stopsControlPlane,
  strikesNode,
  strikesOther,
  unsettlesAttachments,
} from './faults/index.ts';
export { criticalGraceMs } from './faults/node-shutdown.ts';
export {
  type DeclaredFault,
  type FaultAct,
  type FaultDeclaration,
  claims,
  type FaultProbe,
  heartbeatMs,
  lastingProbes,
  mendsAtOf,
  staysBroken,
  turnsMsOf,
} from './faults/kind.ts';
export { earlierField, scenarioToday } from './earlier-names.ts';
export {
  type Dice,
  type Field,
  type Swept,
  durationText,
  numberText,
} from './field.ts';
export {
  type Counts,
  type FieldName,
  type FieldValue,
  type GroupName,
  type Scenario,
  type ScenarioInput,
  type SettableName,
  type Settings,
  type WrittenGroup,
  type WrittenScenario,
  type WrittenWith,
  combined,
  fieldNames,
  fields,
  goesWith,
  kindsInWords,
  placeOf,
  safetyLevels,
  servingWords,
  settableNames,
  settingsFrom,
  settingsUnder,
  valueAt,
  valuesIn,
  verdictWords,
  withValues,
} from './fields.ts';
export type { KindDeclaration } from './kinds.ts';
export {
  type RemedyKind,
  actsOn,
  deletesNode,
  remedyDeclarations,
  remedyKinds,
  remedyNamed,
  emptiesOthers,
  removesPod,
  removesPodObject,
  switchesOff,
  taints,
  takesAttachment,
} from './remedies/index.ts';
export type { RemedyAct, RemedyDeclaration } from './remedies/kind.ts';
export {
  type Basis,
  askedScenario,
  basisOf,
  completeScenario,
  parseScenario,
  scenarioSchema,
  shortTimers,
  shortenedTimers,
} from './scenario.ts';
export {
  type Revocation,
  type Transport,
  endsOf,
  hangsWhenCut,
  networked,
  imagesBeside,
  revocationOf,
  revocations,
  transportOf,
  transports,
} from './transports/index.ts';
export type { Ends, ServerImage } from './transports/kind.ts';
export { drainMs, recreationMs, registrationMs, restartMs, servingCommits } from './waits.ts';
export {
  type Complain,
  complainingIn,
  fieldAt,
  hintOnOldKeys,
  isMap,
  isOldName,
  oldKeysIn,
  readSettings,
  readValue,
  settingsOf,
  settingsSchema,
  writtenOf,
} from './written.ts';
