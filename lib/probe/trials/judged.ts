/** All that follows from the records of trials: what the class does, and what Kubernetes did. Pure. */
import { classify, type DetachRecord, type Finding } from './classify.ts';
import { measureForced, type ForceDeleted } from './force-deleted.ts';
import { measure, type Measured } from './measured.ts';
import type { TrialRecord } from './record.ts';

export interface Judged {
  readonly findings: readonly Finding[];
  readonly answer: Measured;
  /** Where pods were deleted by force: no part of the answer. */
  readonly forceDeleted?: ForceDeleted;
}

export function judged(records: readonly TrialRecord[]): Judged {
  const findings = records.filter(isOfDetach).map(classify);
  const forced = records.filter((record) => !isOfDetach(record));
  return {
    ...{ findings, answer: measure(findings) },
    ...(forced.length === 0 ? {} : { forceDeleted: measureForced(forced) }),
  };
}

const isOfDetach = (record: TrialRecord): record is DetachRecord =>
  record.variant !== 'force-deleted';
