/** Is every needed piece of evidence there? No reason why not means complete. */
import type { CertificateRecord, SmallRecord } from '../../history/index.ts';
import type { Reconciliation } from '../checkers/reconcile.ts';
import { exportStep } from '../facts/acts.ts';
import { mutesIn } from '../facts/table.ts';
import { lateTimers, observerGaps } from './observers.ts';
import { certificateGaps } from './certificates.ts';
import { type Reason, because } from '../facts/witnessed.ts';
import type { Story } from '../timeline/story.ts';
import type { Finding, Verdict } from '../verdict/verdict.ts';

/** Errors, and actions that failed. */
export const recordedTrouble = (records: readonly SmallRecord[]): Reason[] =>
  records.flatMap((record) => {
    if (record.type === 'error') {
      const { where, message } = record;
      return [because('ERROR_RECORDED', `${where}: ${message}`, { where })];
    }
    if (record.type !== 'action' || record.step !== 'failed') return [];
    const { actor, name, detail = 'no detail' } = record;
    return [because('STEP_FAILED', `${actor} ${name} failed: ${detail}`, { actor, name })];
  });

export const failedCertificates = (certificates: Readonly<Verdict['certificates']>): Reason[] =>
  certificates
    .filter(({ holds }) => !holds)
    .map(({ fault, moment, claim, evidence }) => {
      const words = `certificate of ${fault} (${moment}) fails: ${claim} (${evidence})`;
      return because('CERTIFICATE_FAILED', words, { fault, moment });
    });

export function incompleteBecause(
  story: Story,
  certificates: readonly CertificateRecord[],
  findings: readonly Finding[],
  { hasLog }: { readonly hasLog: boolean },
): Reason[] {
  const { records, faultAtMs } = story;
  const spared = mayLackWrites(story, findings) ? exportStep : undefined;
  const reasons = recordedTrouble(
    records.filter((record) => record.type !== 'error' || record.where !== spared),
  );
  if (faultAtMs === undefined) reasons.push(neverInjected());
  reasons.push(...failedCertificates(certificates));
  reasons.push(
    ...certificateGaps(story),
    ...mutesIn(story, { hasLog }),
    ...observerGaps(story),
    ...lateTimers(story),
  );
  for (const { level, code, summary } of findings) {
    if (level === 'incomplete') reasons.push(because(code, `${code}: ${summary}`));
  }
  return saidOnce(reasons);
}

/** Whoever lost sight of what it looks at says so each time: a dead array was told of 2,150 times. */
const saidOnce = (reasons: readonly Reason[]): Reason[] =>
  [...Map.groupBy(reasons, ({ words }) => words).values()].flatMap(([first, ...more]) => {
    if (first === undefined || more.length === 0) return first ?? [];
    const count = 1 + more.length;
    const { code, words, fields } = first;
    return because(code, `${words} (${count} times)`, { ...fields, count });
  });

export const neverInjected = (): Reason => because('NO_FAULT', 'the fault was never injected');

/** Where nobody could write together and nothing is to be rebuilt, the log has nothing to add. */
const mayLackWrites = ({ scenario }: Story, findings: readonly Finding[]): boolean =>
  !scenario.disk.keepWrites && findings.every(({ level }) => level !== 'exposure');

/** Reasons why the run is incomplete. Without an audited image that is reason enough. */
export function nothingTested(
  { scenario, records, faultAtMs, tells }: Story,
  reconciliations: ReadonlyMap<string, Reconciliation>,
): Reason[] {
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
    return untested.map(nothing);
  }
  // An idle database has what was there before: its accounts.
  const steady = records.find((record) => record.type === 'image' && record.image === 'steady');
  const rows = steady?.type === 'image' ? Object.keys(steady.evidence.balances).length : 0;
  return rows > 0
    ? []
    : [nothing('the workload is idle, and the steady image has no rows that could be lost')];
}

const nothing = (words: string): Reason => because('NOTHING_TESTED', words);
