/** From a history to a verdict: the timeline, the checks of the audited copies, the evidence, the expectation. It knows no runner. */
export {
  type AuditedImage,
  type Checker,
  type LedgerLookup,
  corruptAndTold,
  corruptInSilence,
  damage,
  incomplete,
} from './checkers/checker.ts';
export {
  type Answer,
  answerOf,
  answerOfStart,
  type ExitKind,
  hasExitKinds,
} from './checkers/exit-kinds.ts';
export { completenessName, unreadBecause } from './checkers/server.ts';
export {
  type AuditedHistory,
  type Judgement,
  allCheckers,
  judgeImages,
  runChecks,
} from './checkers/index.ts';
export { type EpochBounds, Journal, type JournaledOp } from './checkers/journal.ts';
export type { LostCommit } from './checkers/ledger.ts';
export { OpSample, opName, Reconciler } from './checkers/reconcile.ts';
export {
  type JudgedDatabase,
  type ModelledVolume,
  type OwnPart,
  type ServerLog,
  stockDatabaseName,
} from './database.ts';
export { exportStep } from './facts/acts.ts';
export { copyContradictions } from './facts/table.ts';
export { journalGaps } from './evidence/journals.ts';
export {
  type Pressure,
  isStarved,
  pressureOf,
  pressureSchema,
  timerLagsOf,
} from './evidence/machine.ts';
export {
  eventsIn,
  expectedOf,
  isOpen,
  wordsWorstFirst,
  expectationOf,
  situationOf,
} from './expectation/expectations.ts';
export {
  type ServingWord,
  judgeExpectation,
  servingExpectationOf,
} from './expectation/serving-expectation.ts';
export type { Statement } from './facts/engine.ts';
export {
  type FactRow,
  type Reason,
  type Witnessed,
  because,
  disagreementReason,
  disagreementsOf,
  reasonSchema,
} from './facts/witnessed.ts';
export { judgeGroup } from './group/judge-group.ts';
export { phaseRows } from './group/phases.ts';
export { groupHeadlineOf, stalestText } from './group/sentence.ts';
export { isGroupRun } from './group/story.ts';
export { type GroupVerdict, groupVerdictSchema } from './group/verdict.ts';
export { outlookOf } from './timeline/awaited.ts';
export { licencesOf } from './timeline/licence.ts';
export { exposureOf, refusedInWords } from './timeline/access.ts';
export {
  firstAfterFault,
  type Milestone,
  type MilestoneName,
  type MilestoneWitness,
  milestones,
  type Roles,
  roleOf,
  rolesIn,
  Sightings,
  type Story,
  tellStory,
} from './timeline/story.ts';
export type { ForceReason } from './timeline/forced-detaches.ts';
export { recreation } from './timeline/recreations.ts';
export { remedyRefused, rolloutWaits } from './verdict/findings.ts';
export { assembleVerdict } from './verdict/assemble.ts';
export { corruptionIn, headlineOf, firstTold, noticeInWords } from './verdict/words.ts';
export {
  readVerdict,
  storedVerdict,
  type Finding,
  type LicenceStep,
  type Loss,
  type Notice,
  type Phases,
  type Safety,
  type Verdict,
  type VerdictWord,
  exitCodeOf,
  verdictSchema,
  verdictWord,
  worst,
} from './verdict/verdict.ts';
