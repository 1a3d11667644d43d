/** From a history to a verdict: the timeline, the checks of the audited copies, the evidence, the expectation. It knows no runner. */
export type { AuditedImage, Checker, LedgerLookup } from './checkers/checker.ts';
export { completenessName } from './checkers/completeness.ts';
export { corruptAndTold, corruptInSilence, damage, incomplete } from './checkers/findings.ts';
export {
  type AuditedHistory,
  type Judgement,
  allCheckers,
  judgeImages,
  runChecks,
} from './checkers/index.ts';
export { type EpochBounds, Journal, type JournaledOp } from './checkers/journal.ts';
export type { LostCommit } from './checkers/lost-commits.ts';
export { troubleIn, troubleOfStart } from './checkers/machine-trouble.ts';
export { OpSample, opName } from './checkers/op-sample.ts';
export { unreadBecause } from './checkers/readability.ts';
export { Reconciler } from './checkers/reconcile.ts';
export {
  type JudgedDatabase,
  type MachineTrouble,
  type OwnPart,
  type ServerLog,
  stockDatabaseName,
} from './database.ts';
export { exportStep } from './evidence/completeness.ts';
export { identitiesOf } from './evidence/identities.ts';
export { journalGaps } from './evidence/journal-gaps.ts';
export {
  type Pressure,
  isStarved,
  pressureOf,
  pressureSchema,
  starvedReason,
  timerLagsOf,
} from './evidence/machine-time.ts';
export { failedCertificates } from './evidence/recorded-trouble.ts';
export { eventsIn, expectedOf, isOpen, wordsWorstFirst } from './expectation/counted.ts';
export { expectationOf } from './expectation/expectations.ts';
export {
  type ServingWord,
  judgeExpectation,
  servingExpectationOf,
} from './expectation/serving-expectation.ts';
export { situationOf } from './expectation/situation.ts';
export { judgeGroup } from './group/judge-group.ts';
export { phaseRows } from './group/phases.ts';
export { groupHeadlineOf, stalestText } from './group/sentence.ts';
export { isGroupRun } from './group/story.ts';
export { type GroupVerdict, groupVerdictSchema } from './group/verdict.ts';
export { outlookOf } from './timeline/awaited.ts';
export { exposureOf } from './timeline/exposure.ts';
export { firstAfterFault } from './timeline/first-after-fault.ts';
export type { ForceReason } from './timeline/forced-detaches.ts';
export {
  type Milestone,
  type MilestoneName,
  type MilestoneWitness,
  milestones,
} from './timeline/milestones.ts';
export { recreation } from './timeline/recreations.ts';
export { refusedInWords } from './timeline/refused-mounts.ts';
export { type Roles, roleOf, rolesIn } from './timeline/roles.ts';
export { Sightings } from './timeline/sightings.ts';
export { type Story, tellStory } from './timeline/story.ts';
export { assembleVerdict } from './verdict/assemble.ts';
export { corruptionIn } from './verdict/corruption.ts';
export { headlineOf } from './verdict/headline.ts';
export { firstTold, noticeInWords } from './verdict/notices.ts';
export { readVerdict, storedVerdict } from './verdict/read-verdict.ts';
export {
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
