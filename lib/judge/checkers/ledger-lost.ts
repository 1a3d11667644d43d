/**
 * Commits that are gone: acknowledged ones, which only the journal outside the cluster can see, and
 * those that nobody acknowledged and that an earlier image or a reader saw.
 */
import { sessionKey } from '../../history/index.ts';
import type { AuditedImage, Checker } from './checker.ts';
import { damage } from './findings.ts';
import { plural } from '../../core/index.ts';
import { epochs } from './journal.ts';
import type { LostRange } from './losses.ts';
import { opName } from './op-sample.ts';
import type { Reconciliation } from './reconcile.ts';
import type { SeenCommit } from './seen-commits.ts';

export const ledgerLost: Checker = {
  name: 'ledger-lost',
  check({ image, reconciliation, before }) {
    const { unread, lost, seenLost, lostRanges } = reconciliation;
    // Of an unreadable ledger that finding says how many could not be read.
    if (unread !== undefined || lost + seenLost.length === 0) return [];
    const gone = [acknowledged(reconciliation, before), seen(reconciliation)];
    const summary = gone.filter(Boolean).join('; ');
    const evidence = [...byEpoch(reconciliation), ...lostRanges.map(describe), ...seenLost.map(by)];
    return [damage({ code: 'LEDGER_LOST', safety: 'lost', loud: false, image, summary, evidence })];
  },
};

function acknowledged(reconciliation: Reconciliation, before: AuditedImage | undefined): string {
  const { acked, lost, lostSince } = reconciliation;
  if (lost === 0) return '';
  const since = before === undefined || lostSince === 0 ? '' : sinceThen(lostSince, before);
  return `${lost} of ${acked} acknowledged commits are gone: ${shape(reconciliation)}${since}`;
}

const seen = ({ seenLost: { length } }: Reconciliation): string =>
  length === 0 ? '' : `${plural(length, 'commit')} gone that nobody acknowledged and somebody saw`;

const by = (commit: SeenCommit): string =>
  `${opName(commit)}: seen by ${commit.by} at ${(commit.atMs / 1000).toFixed(3)} s`;

const sinceThen = (lostSince: number, before: AuditedImage): string =>
  `; ${lostSince} of them were in the ${before.image} image`;

const shape = ({ lostAreTails, lostRanges }: Reconciliation): string =>
  lostAreTails
    ? `the last ones of ${plural(lostRanges.length, 'session')}`
    : `${plural(lostRanges.length, 'range')}, with later commits of the same sessions present`;

const byEpoch = ({ byEpoch }: Reconciliation): string[] =>
  epochs
    .filter((epoch) => byEpoch[epoch].lost > 0)
    .map((epoch) => `${epoch}: ${byEpoch[epoch].lost} of ${byEpoch[epoch].acked} lost`);

function describe(range: LostRange): string {
  const { fromSeq, toSeq, count, epoch } = range;
  const seconds = (ms: number): string => (ms / 1000).toFixed(3);
  return (
    `${sessionKey(range)}: seq ${fromSeq} to ${toSeq}, ${count} acknowledged` +
    ` at ${seconds(range.firstAckMs)} to ${seconds(range.lastAckMs)} s (${epoch})`
  );
}
