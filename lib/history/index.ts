/** The record of a run: what is written, in which shape, and how it is read back. */
export { type ClientJournal, ClientJournals, type ConnectionState } from './client-protocol.ts';
export type {
  ClientBeatRecord,
  ClientPlan,
  InvokeRecord,
  OutcomeRecord,
  ReadRecord,
  SchemaChangeRecord,
  SessionRecord,
} from './client-records.ts';
export {
  type ActionRecord,
  type CaseRecord,
  type CertificateRecord,
  type CopyRecord,
  type CustomNames,
  type HistoryRecord,
  type ImageRecord,
  type MachineRecord,
  type ObservationRecord,
  type PhaseName,
  type RowRecord,
  type RunRecord,
  type SegmentCounts,
  type SegmentList,
  type SetupRecord,
  type Timers,
  historyVersion,
  phaseNames,
} from './events.ts';
export {
  type DocumentsFound,
  type ImageEvidence,
  type IndexCount,
  type LedgerRow,
  type LoginFound,
  type SchemaFound,
  type ServerStart,
  type Unread,
  nothingRead,
} from './evidence.ts';
export { type GroupView, hasQuorum, routedPrimary, selfIn } from './group-views.ts';
export {
  type CopyIdentity,
  type ImageLabel,
  type PodRef,
  type Provisioning,
  type VolumeIdentity,
  provisioningSchema,
} from './identity.ts';
export {
  type Tells,
  isWarning,
  migrateBatch,
  migrateResult,
  migrateVerdict,
  recordedScenario,
  replayOf,
  tellsOf,
} from './migration.ts';
export {
  type ObservedName,
  attachGateTexts,
  canaryContent,
  csiCalls,
  isCall,
  isGranted,
  isRefused,
  observed,
} from './observations.ts';
export {
  type Beating,
  askAgainEveryMs,
  askedWithinMs,
  beatEveryMs,
  beatWithinMs,
  declareObserver,
  guarded,
} from './observers.ts';
export type { Operation } from './operations.ts';
export type { Recorder, Unstamped } from './port.ts';
export {
  type ClientAnswer,
  type History,
  type Meter,
  type SmallRecord,
  type TimedRecord,
  openHistory,
} from './reader.ts';
export {
  type RunRecorder,
  historyDirectory,
  openRecorder,
  readsSegment,
  runSegment,
  writerSegment,
} from './recorder.ts';
export type { SegmentSeal } from './segment-reader.ts';
export { Segment, suffixes } from './segment.ts';
export {
  deletionOf,
  documentAction,
  documentBody,
  documentsBelow,
  firstDocuments,
  putsDocument,
} from './workload/documents.ts';
export {
  Chain,
  type OpContent,
  type SessionId,
  accountCount,
  accountsPerConnection,
  clientSides,
  defaultTransferEvery,
  entryHash,
  firstAccount,
  initialBalance,
  originHash,
  sessionContents,
  sessionKey,
  workloadTables,
} from './workload/ledger.ts';
export { SessionMap } from './workload/session-map.ts';
export {
  type ClientSide,
  type LedgerEntry,
  type OpId,
  type OpKind,
  type OpOutcome,
  type ServerIdentity,
  type SqlConnector,
  SqlError,
  type SqlSession,
} from './workload/sql.ts';
export {
  type WriteLog,
  type WriteRecord,
  gapsInWrites,
  linkFlags,
  openWrites,
  writeOps,
} from './writes.ts';
