/**
 * One audit of a server that runs: `node audit-run.ts CONTAINER SOCKET FOLDER`. Journal from the
 * history, rows from the pass in the lab, both reconciled as they come; the result as JSON. It is a
 * process of its own, so that its memory is the audit's alone.
 */
import { checkers, runChecks } from '../../lib/checkers/index.ts';
import { Journal } from '../../lib/checkers/journal.ts';
import { Reconciler } from '../../lib/checkers/reconcile.ts';
import { unreadBecause } from '../../lib/checkers/readability.ts';
import { decodeRows, type AuditMessage } from '../../lib/cluster/kind/audit/wire.ts';
import { labIn } from '../../lib/cluster/kind/lab.ts';
import { openHistory } from '../../lib/history/reader.ts';
import type { PassEnd } from './audit-pass.ts';
import { seed } from './ledger-volume.ts';

export interface AuditRun {
  /** From the first byte of the history to the findings. */
  readonly totalMs: number;
  /** Of that: reading the clients' journal. */
  readonly journalMs: number;
  readonly rows: number;
  readonly lost: number;
  readonly findings: readonly string[];
  readonly durationsMs: Readonly<Record<string, number>>;
  /** Highest resident memory of both processes, added. */
  readonly rssMiB: number;
}

const [container = '', socketPath = '', folder = ''] = process.argv.slice(2);
const startedMs = performance.now();
const journal = new Journal();
for (const op of openHistory(folder).ops()) journal.add(op);
const journalMs = performance.now() - startedMs;
const reconciler = new Reconciler({ journal, seed, takenAtMs: Number.POSITIVE_INFINITY });
const { evidence, rssMiB } = await pass();
const reconciliation = reconciler.result(unreadBecause(evidence));
const asked = checkers.filter(({ name }) => name !== 'completeness');
const findings = runChecks([{ image: 'bench', evidence, reconciliation }], asked);
const answer: AuditRun = {
  totalMs: performance.now() - startedMs,
  journalMs,
  rows: reconciliation.rows,
  lost: reconciliation.lost,
  findings: [...findings.map(({ code }) => code), ...evidence.failures],
  durationsMs: { ...evidence.durationsMs },
  rssMiB: rssMiB + process.resourceUsage().maxRSS / 1024,
};
process.stdout.write(JSON.stringify(answer));

async function pass(): Promise<PassEnd> {
  const { promise, resolve, reject } = Promise.withResolvers<PassEnd>();
  const argv = ['node', '/app/bench/support/audit-pass.ts', socketPath, seed];
  await using stream = await labIn(container).stream(argv, (line) => {
    const message = JSON.parse(line) as AuditMessage | PassEnd;
    if (message.type === 'rows') decodeRows(message.columns, (row) => reconciler.row(row));
    else if (message.type === 'end') resolve(message);
  });
  stream.closed.then(() => reject(new Error('the pass ended early')), reject);
  return await promise;
}
