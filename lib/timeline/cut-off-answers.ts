/** What an outside client was answered by one node within a span: one that is cut off answers nothing. */
import type { OutcomeRecord, ReadRecord, SessionRecord } from '../history/client-records.ts';
import { sessionKey } from '../workload/ledger.ts';

export interface CutOffWindow {
  readonly node: string;
  /** On the run's clock; the span ends before `toMs`. */
  readonly fromMs: number;
  readonly toMs: number;
}

export interface CutOffAnswers {
  readonly count: number;
  /** Absent where there was none. */
  readonly firstMs: number | undefined;
}

/** Fed sessions, outcomes and reads in time order, one pass. */
export class CutOffAnswerMeter {
  readonly #window: CutOffWindow | undefined;
  readonly #sessions = new Set<string>();
  #count = 0;
  #firstMs: number | undefined;

  /** Without a window nothing counts. */
  constructor(window: CutOffWindow | undefined) {
    this.#window = window;
  }

  see(record: SessionRecord | OutcomeRecord | ReadRecord): void {
    if (this.#window === undefined || record.client !== 'outside') return;
    const { node, fromMs, toMs } = this.#window;
    const isOpened = record.type === 'session';
    if (isOpened && record.server?.node === node) this.#sessions.add(sessionKey(record));
    if (record.t < fromMs || record.t >= toMs || !this.#isAnswer(record, node)) return;
    this.#count += 1;
    this.#firstMs ??= record.t;
  }

  result(): CutOffAnswers {
    return { count: this.#count, firstMs: this.#firstMs };
  }

  /** A session that was opened is one, too: the server said who it is. */
  #isAnswer(record: SessionRecord | OutcomeRecord | ReadRecord, node: string): boolean {
    if (record.type !== 'outcome') return record.server?.node === node;
    return record.outcome === 'ok' && this.#sessions.has(sessionKey(record));
  }
}
