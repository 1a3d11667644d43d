/** What a pass over a ledger comes to: the journal from the history, rows as they come, findings. */
import { allCheckers, runChecks } from '../../lib/judge/checkers/index.ts';
import { Journal } from '../../lib/judge/checkers/journal.ts';
import {
  reconcileDocuments,
  type DocumentOptions,
  Reconciler,
} from '../../lib/judge/checkers/reconcile.ts';
import { unreadBecause } from '../../lib/judge/checkers/server.ts';
import { decodeRows, type AuditMessage } from '../../lib/storage/audit/wire.ts';
import { openHistory } from '../../lib/history/reader.ts';
import type { PassEnd } from './audit-pass.ts';
import { mysql } from '../../lib/mysql/database.ts';

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

const takenAtMs = Number.MAX_VALUE;

export class AuditJudge {
  readonly #journal = new Journal();
  readonly #reconciler: Reconciler;
  readonly #journalMs: number;

  constructor(folder: string, seed: string) {
    const startedMs = performance.now();
    openHistory(folder).visitOps((op) => this.#journal.add(op));
    this.#reconciler = new Reconciler({ journal: this.#journal, seed, takenAtMs });
    this.#journalMs = performance.now() - startedMs;
  }

  /** The end of the pass, where a line is that. */
  take(line: string): PassEnd | undefined {
    const message = JSON.parse(line) as AuditMessage | PassEnd;
    if (message.type === 'rows') decodeRows(message, (row) => this.#reconciler.row(row));
    return message.type === 'end' ? message : undefined;
  }

  judge({ evidence, rssMiB }: PassEnd): Omit<AuditRun, 'totalMs'> {
    const journal = this.#journal;
    const reconciliation = this.#reconciler.result(unreadBecause(evidence, mysql.log));
    const asked = allCheckers(mysql).filter(({ name }) => name !== 'completeness');
    const holds: DocumentOptions['holds'] = (log, seq) => this.#reconciler.holds(log, seq);
    const { documents } = evidence;
    const image = {
      ...{ image: 'bench', evidence, reconciliation, takenAtMs },
      ...(documents === undefined
        ? {}
        : { documents: reconcileDocuments(documents, { journal, takenAtMs, holds }) }),
      ledger: { journal, holds },
    };
    const findings = runChecks([image], asked);
    return {
      journalMs: this.#journalMs,
      rows: reconciliation.rows,
      lost: reconciliation.lost,
      findings: [...findings.map(({ code }) => code), ...evidence.failures],
      durationsMs: { ...evidence.durationsMs },
      rssMiB: {
        audit: Math.round(process.resourceUsage().maxRSS / 1024),
        lab: Math.round(rssMiB),
      },
    };
  }
}
