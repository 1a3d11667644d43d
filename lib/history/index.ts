/** The record of a run: what is written, in which shape, and how it is read back. */
export { type ClientJournal, ClientJournals } from './client-protocol.ts';
export { type AuditRequest, auditRequest, eventSeen, managerLine } from './control-plane.ts';
export * from './evidence.ts';
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
export * from './observations.ts';
export * from './observers.ts';
export {
  type Operation,
  type ClientAnswer,
  type History,
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
export * from './records.ts';
export type { SegmentSeal } from './segment-reader.ts';
export { isSameFile, isSameSegment } from './seals.ts';
export { Segment, suffixes } from './segment.ts';
export * from './workload.ts';
export {
  type WriteLog,
  type WriteRecord,
  gapsInWrites,
  isWritesFile,
  linkFlags,
  recordsIn,
  writeOps,
} from './writes.ts';
