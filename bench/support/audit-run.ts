/**
 * One audit of a server that runs: `node audit-run.ts CONTAINER SOCKET FOLDER SEED DATA-DIRECTORY`. Journal from
 * the history, rows from the pass in the lab, both reconciled as they come; the result as JSON. It
 * is a process of its own, so that its memory is the audit's alone.
 */
import { allCheckers, runChecks } from '../../lib/checkers/index.ts';
import { Journal } from '../../lib/checkers/journal.ts';
import {
  reconcileDocuments,
  type DocumentOptions,
} from '../../lib/checkers/reconcile-documents.ts';
import { Reconciler } from '../../lib/checkers/reconcile.ts';
import { unreadBecause } from '../../lib/checkers/readability.ts';
import { auditHeap, labNode } from '../../lib/cluster/kind/disk/lab.ts';
import { decodeRows, type AuditMessage } from '../../lib/database/audit/wire.ts';
import { execWithInput } from '../../lib/engine/commands.ts';
import { openStream } from '../../lib/engine/line-stream.ts';
import { openHistory } from '../../lib/history/reader.ts';
import type { PassEnd } from './audit-pass.ts';

export interface AuditRun {
  /** From the start of the lab's process to the findings. */
  readonly totalMs: number;
  /** Of that: reading the clients' journal. */
  readonly journalMs: number;
  readonly rows: number;
  readonly lost: number;
  readonly findings: readonly string[];
  readonly durationsMs: Readonly<Record<string, number>>;
  /** Highest resident memory: of this process, and of the one in the lab. */
  readonly rssMiB: { readonly audit: number; readonly lab: number };
}

const [container = '', socketPath = '', folder = '', seed = '', dataDirectory = ''] =
  process.argv.slice(2);
const startedMs = performance.now();
const journal = new Journal();
const ended = Promise.withResolvers<PassEnd>();
let reconciler: Reconciler | undefined;
const argv = execWithInput(container, ...labNode, ...auditHeap);
const pass = ['/app/bench/support/audit-pass.ts', socketPath, seed, dataDirectory];
await using stream = await openStream([...argv, ...pass], (line) => {
  const message = JSON.parse(line) as AuditMessage | PassEnd;
  if (message.type === 'rows') decodeRows(message, (row) => reconciler?.row(row));
  else if (message.type === 'end') ended.resolve(message);
});
stream.closed.then(() => ended.reject(new Error('the pass ended early')), ended.reject);

// While the pass starts: no row is taken before this is done.
const journalStartedMs = performance.now();
openHistory(folder).visitOps((op) => journal.add(op));
const takenAtMs = Number.MAX_VALUE;
reconciler = new Reconciler({ journal, seed, takenAtMs });
const journalMs = performance.now() - journalStartedMs;

const { evidence, rssMiB } = await ended.promise;
const reconciliation = reconciler.result(unreadBecause(evidence));
const asked = allCheckers().filter(({ name }) => name !== 'completeness');
const holds: DocumentOptions['holds'] = (log, seq) => reconciler?.holds(log, seq) ?? false;
const { documents } = evidence;
const image = {
  ...{ image: 'bench', evidence, reconciliation, takenAtMs },
  ...(documents === undefined
    ? {}
    : { documents: reconcileDocuments(documents, { journal, takenAtMs, holds }) }),
  ledger: { journal, holds },
};
const findings = runChecks([image], asked);
const answer: AuditRun = {
  totalMs: performance.now() - startedMs,
  journalMs,
  rows: reconciliation.rows,
  lost: reconciliation.lost,
  findings: [...findings.map(({ code }) => code), ...evidence.failures],
  durationsMs: { ...evidence.durationsMs },
  rssMiB: { audit: Math.round(process.resourceUsage().maxRSS / 1024), lab: Math.round(rssMiB) },
};
process.stdout.write(JSON.stringify(answer));
