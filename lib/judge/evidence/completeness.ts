/** Is every needed piece of evidence there? No reason why not means complete. */
import type { CertificateRecord, SmallRecord } from '../../history/index.ts';
import type { Reconciliation } from '../checkers/reconcile.ts';
import { exportStep } from '../facts/acts.ts';
import { type Reason, because } from '../facts/witnessed.ts';
import type { Story } from '../timeline/story.ts';
import type { Finding } from '../verdict/verdict.ts';
import { type Attended, absencesIn } from './attendance.ts';
import { lateTimers, lostLeaders } from './machine.ts';

/** Of a run on one server or on a group. */
export function incompleteBecause(
  attended: Attended,
  certificates: readonly CertificateRecord[],
  findings: readonly Finding[],
): Reason[] {
  const { story } = attended;
  const { records, faultAtMs, scenario, remedy } = story;
  // Where it was not begun whoever asks first was told no.
  const mayBeRefused = scenario.kubernetes.admission !== 'open' || remedy === undefined;
  const failures = mayBeRefused ? ['failed'] : ['failed', 'refused'];
  const spared = mayLackWrites(story, findings) ? exportStep : undefined;
  return dedupeWithCounts([
    ...records.flatMap((record) => troubleIn(record, spared, failures)),
    ...(faultAtMs === undefined ? [because('NO_FAULT', 'the fault was never injected')] : []),
    ...certificates.filter(({ holds }) => !holds).map(failedCertificate),
    ...absencesIn(attended, 'CERTIFICATE_SILENT', 'WITNESS_MUTE', 'OBSERVER_SILENT'),
    ...lateTimers(story),
    ...lostLeaders(story),
    ...findings
      .filter(({ level }) => level === 'incomplete')
      .map(({ code, summary }) => because(code, `${code}: ${summary}`)),
  ]);
}

/** An error, but at that step, and an action that ended in one of these. */
function troubleIn(
  record: SmallRecord,
  spared: string | undefined,
  failures: readonly string[],
): Reason[] {
  if (record.type === 'error' && record.where !== spared) {
    const { where, message } = record;
    return [because('ERROR_RECORDED', `${where}: ${message}`, { where })];
  }
  if (record.type !== 'action' || !failures.includes(record.step)) return [];
  const { actor, name, step, detail = 'no detail' } = record;
  return [because('STEP_FAILED', `${actor} ${name} ${step}: ${detail}`, { actor, name })];
}

function failedCertificate({ fault, moment, claim, evidence }: CertificateRecord): Reason {
  const words = `certificate of ${fault} (${moment}) fails: ${claim} (${evidence})`;
  return because('CERTIFICATE_FAILED', words, { fault, moment });
}

/** An observer that lost what it looks at records that each time: 2,150 errors of one dead array. */
const dedupeWithCounts = (reasons: readonly Reason[]): Reason[] =>
  [...Map.groupBy(reasons, ({ words }) => words).values()].flatMap(([first, ...more]) => {
    if (first === undefined || more.length === 0) return first ?? [];
    const count = 1 + more.length;
    const { code, words, fields } = first;
    return because(code, `${words} (${count} times)`, { ...fields, count });
  });

/** If two nodes could not write together and nothing is to be rebuilt, the log has nothing to add. */
const mayLackWrites = ({ scenario }: Story, findings: readonly Finding[]): boolean =>
  !scenario.disk.keepWrites && findings.every(({ level }) => level !== 'exposure');

/** Why no loss could have shown. Without an audited image that is reason enough. */
export function nothingTested(
  { scenario, records, faultAtMs, tells }: Story,
  reconciliations: ReadonlyMap<string, Reconciliation>,
): Reason[] {
  if (reconciliations.size === 0) return [];
  const nothing = (words: string, is: boolean): Reason[] =>
    is ? [because('NOTHING_TESTED', words)] : [];
  if (scenario.load.rate === 0) {
    // An idle database has what was there before: its accounts.
    const steady = records.find((record) => record.type === 'image' && record.image === 'steady');
    const rows = steady?.type === 'image' ? Object.keys(steady.evidence.balances).length : 0;
    return nothing(
      'the workload is idle, and the steady image has no rows that could be lost',
      rows === 0,
    );
  }
  if (faultAtMs === undefined) return [];
  return [
    ...nothing(
      'the clients were to write, and no commit was acknowledged before the fault',
      [...reconciliations.values()].every(({ byEpoch }) => byEpoch.beforeFault.acked === 0),
    ),
    ...nothing(
      'no client was asked to change the schema',
      tells.wholeWorkload && !records.some(({ type }) => type === 'schema-change'),
    ),
  ];
}
