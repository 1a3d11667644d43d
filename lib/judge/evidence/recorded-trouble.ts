/** Trouble that the records themselves tell of, whatever is tested: each a reason why a run is incomplete. */
import type { SmallRecord } from '../../history/index.ts';
import type { Verdict } from '../verdict/verdict.ts';

/** Errors, and actions that failed. */
export const recordedTrouble = (records: readonly SmallRecord[]): string[] =>
  records.flatMap((record) => {
    if (record.type === 'error') return [`${record.where}: ${record.message}`];
    if (record.type !== 'action' || record.step !== 'failed') return [];
    return [`${record.actor} ${record.name} failed: ${record.detail ?? 'no detail'}`];
  });

export const failedCertificates = (certificates: Readonly<Verdict['certificates']>): string[] =>
  certificates
    .filter(({ holds }) => !holds)
    .map(
      ({ fault, moment, claim, evidence }) =>
        `certificate of ${fault} (${moment}) fails: ${claim} (${evidence})`,
    );
