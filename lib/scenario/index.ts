/** What a run may be asked: faults, remedies, disks, databases, workload and timers, each declared once with its fields. */
export { refusals } from './asked.ts';
export { contradictions, isKept, takenOf } from './contradictions.ts';
export {
  type GroupSettings,
  groupReplication,
  groupSettingsOf,
  groupSettingsSchema,
  groupSize,
} from './database-kinds/group-replication.ts';
export {
  type DatabaseKind,
  databaseDeclarations,
  databaseKindNamed,
  stockDatabaseKind,
} from './database-kinds/index.ts';
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
  controlPlaneFaults,
  cutsClientsOff,
  delaysNotReady,
  faultDeclarations,
  faultKinds,
  faultNamed,
  isAskedAgain,
  isOverAtOnce,
  losesPower,
  powerFaults,
  questionOf,
  sharesEvents,
  silencesKubelet,
  sparesVictim,
  unsettlesAttachments,
} from './faults/index.ts';
export {
  type DeclaredFault,
  type FaultAct,
  type FaultDeclaration,
  type FaultProbe,
  heartbeatMs,
  lastingProbes,
  mendsAtOf,
  staysBroken,
  turnsMsOf,
} from './faults/kind.ts';
export { fields } from './fields.ts';
export { kubernetesFields, kubernetesText } from './fields/cluster.ts';
export { type DatabaseChoice, stockDatabase } from './fields/database.ts';
export type { Field } from './fields/field.ts';
export type { KindDeclaration } from './fields/of-kinds.ts';
export { diskFields } from './fields/storage.ts';
export type { Dice, Swept } from './fields/swept.ts';
export { durationText, numberText } from './fields/texts.ts';
export {
  type RemedyKind,
  actsOn,
  remedyDeclarations,
  remedyKinds,
  remedyNamed,
  removesPod,
  removesPodObject,
  taints,
  takesAttachment,
} from './remedies/index.ts';
export type { RemedyAct, RemedyDeclaration } from './remedies/kind.ts';
export {
  type Basis,
  type Counts,
  type Scenario,
  type ScenarioInput,
  askedScenario,
  basisOf,
  completeScenario,
  parseScenario,
  safetyLevels,
  scenarioSchema,
  servingWords,
  shortTimersMs,
  shortenedTimers,
  stockTimersMs,
  verdictWords,
} from './scenario.ts';
export { type Settings, settingsUnder } from './settings.ts';
export { drainMs, recreationMs, registrationMs, restartMs, servingCommits } from './waits.ts';
export type { WrittenGroup, WrittenScenario, WrittenWith } from './written-form.ts';
export {
  type FieldName,
  fieldNames,
  fieldOf,
  goesWith,
  groups,
  inFull,
  kindsInWords,
  settableNames,
  writtenPathOf,
} from './written-paths.ts';
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
