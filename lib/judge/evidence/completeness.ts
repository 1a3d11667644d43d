/** Is every needed piece of evidence there? Each reason why not is a sentence; none means complete. */
import type { CertificateRecord, SmallRecord } from '../../history/index.ts';
import type { Reconciliation } from '../checkers/reconcile.ts';
import { imageLabels } from '../facts/copies.ts';
import { exportStep } from '../facts/acts.ts';
import { mutesIn } from '../facts/table.ts';
import { lateTimers, observerGaps } from './observers.ts';
import { certificateGaps } from './certificates.ts';
import type { Story } from '../timeline/story.ts';
import type { Finding, Verdict } from '../verdict/verdict.ts';

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

export function incompleteBecause(
  story: Story,
  certificates: readonly CertificateRecord[],
  findings: readonly Finding[],
  { hasLog }: { readonly hasLog: boolean },
): string[] {
  const { records, faultAtMs } = story;
  const spared = mayLackWrites(story, findings) ? exportStep : undefined;
  const reasons = recordedTrouble(
    records.filter((record) => record.type !== 'error' || record.where !== spared),
  );
  if (faultAtMs === undefined) reasons.push('the fault was never injected');
  for (const label of imageLabels) {
    const isAudited = records.some((record) => record.type === 'image' && record.image === label);
    if (!isAudited) reasons.push(`the ${label} image was not audited`);
  }
  reasons.push(...failedCertificates(certificates));
  if (faultAtMs !== undefined && !certificates.some(({ moment }) => moment === 'during')) {
    reasons.push('no certificate says that the fault took effect');
  }
  reasons.push(
    ...certificateGaps(story),
    ...mutesIn(story, { hasLog }),
    ...observerGaps(story),
    ...lateTimers(story),
  );
  for (const { level, code, summary } of findings) {
    if (level === 'incomplete') reasons.push(`${code}: ${summary}`);
  }
  return saidOnce(reasons);
}

/** Whoever lost sight of what it looks at says so each time: a dead array was told of 2,150 times. */
function saidOnce(reasons: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts].map(([reason, count]) =>
    count === 1 ? reason : `${reason} (${count} times)`,
  );
}

/** Where nobody could write together and nothing is to be rebuilt, the log has nothing to add. */
const mayLackWrites = ({ scenario }: Story, findings: readonly Finding[]): boolean =>
  !scenario.disk.keepWrites && findings.every(({ level }) => level !== 'exposure');

/** Reasons why the run is incomplete. Without an audited image that is reason enough. */
export function nothingTested(
  { scenario, records, faultAtMs, tells }: Story,
  reconciliations: ReadonlyMap<string, Reconciliation>,
): string[] {
  if (reconciliations.size === 0) return [];
  if (scenario.load.rate !== 0) {
    if (faultAtMs === undefined) return [];
    const all = [...reconciliations.values()];
    const untested: string[] = [];
    if (all.every(({ byEpoch }) => byEpoch.beforeFault.acked === 0)) {
      untested.push('the clients were to write, and no commit was acknowledged before the fault');
    }
    if (tells.wholeWorkload && !records.some(({ type }) => type === 'schema-change')) {
      untested.push('no client was asked to change the schema');
    }
    return untested;
  }
  // An idle database has what was there before: its accounts.
  const steady = records.find((record) => record.type === 'image' && record.image === 'steady');
  const rows = steady?.type === 'image' ? Object.keys(steady.evidence.balances).length : 0;
  return rows > 0
    ? []
    : ['the workload is idle, and the steady image has no rows that could be lost'];
}
