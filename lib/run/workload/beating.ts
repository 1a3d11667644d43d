/**
 * A client's signs of life: from its first record to its last it says at intervals how many it has
 * journaled, so that a record which is gone, or a client which fell silent, is missed.
 */
import type { Clock } from '../../core/index.ts';
import { type ClientBeatRecord, beatEveryMs } from '../../history/index.ts';

export interface BeatingOptions<R extends { readonly type: string }> {
  readonly clock: Clock;
  readonly journal: JournalFile<R | ClientBeatRecord>;
  readonly client: string;
  readonly doing: ClientBeatRecord['doing'];
  /** When it aborts, the client ends. */
  readonly signal: AbortSignal;
}

interface JournalFile<R> {
  append(record: R): void;
  /** Everything appended is on file when this returns. */
  flush(): void;
}

/** What a client at work is given: its journal, and a way to tell of what leaves no record. */
export interface Counting<R> {
  readonly journal: JournalFile<R>;
  readonly count: (what: string) => void;
}

/** Resolves or rejects as `work` does, which ends once the signal has aborted. */
export async function beating<R extends { readonly type: string }>(
  { clock, journal, client, doing, signal }: BeatingOptions<R>,
  work: (counting: Counting<R>) => Promise<void>,
): Promise<void> {
  const done: Record<string, number> = {};
  const count = (what: string): void => {
    done[what] = (done[what] ?? 0) + 1;
  };
  const beat = (more: { readonly last?: true } = {}): void => {
    const t = Math.round(clock.nowMs() * 1000) / 1000;
    journal.append({ type: 'client-beat', t, client, doing, done: { ...done }, ...more });
    journal.flush();
  };
  const counted: JournalFile<R> = {
    append(record) {
      journal.append(record);
      count(record.type);
    },
    flush: () => journal.flush(),
  };
  beat();
  const working = work({ journal: counted, count });
  const ended = new AbortController();
  const end = (): void => ended.abort();
  // An error ends the beats at once, and is thrown below.
  working.then(end, end);
  const until = AbortSignal.any([signal, ended.signal]);
  while (await slept(clock, beatEveryMs, until)) beat();
  await working;
  beat({ last: true });
}

/** False where the signal came first. */
export async function slept(clock: Clock, ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await clock.sleep(ms, signal);
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}
