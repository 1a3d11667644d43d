/** All that follows from the records of trials: what the class does, and what Kubernetes did. Pure. */
import type { TrialPlan } from '../trial-plan.ts';
import { classify, type DetachRecord, type TrialFinding } from './classify.ts';
import { measureForced, type ForceDeleted } from './force-deleted.ts';
import { measure, type MeasuredClass } from './measured.ts';
import type { TrialRecord } from './record.ts';

export interface JudgedTrials {
  readonly findings: readonly TrialFinding[];
  readonly answer: MeasuredClass;
  /** Where pods were deleted by force: no part of the answer. */
  readonly forceDeleted?: ForceDeleted;
}

export function judgeTrials(
  records: readonly TrialRecord[],
  { horizonMs }: Pick<TrialPlan, 'horizonMs'>,
): JudgedTrials {
  const findings = records.filter(isOfDetach).map((record) => classify(record, horizonMs));
  const forced = records.filter((record) => !isOfDetach(record));
  return {
    ...{ findings, answer: measure(findings) },
    ...(forced.length === 0 ? {} : { forceDeleted: measureForced(forced) }),
  };
}

const isOfDetach = (record: TrialRecord): record is DetachRecord =>
  record.variant !== 'force-deleted';
