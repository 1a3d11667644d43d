/** A writer's journal: what it asked, when, and what it got. Times are milliseconds of CLOCK_MONOTONIC. */

export interface Asked {
  readonly seq: number;
  readonly atMs: number;
  /** Absent: no answer came. */
  readonly endedMs?: number;
  /** `EIO` … Absent: it was acknowledged, or no answer came. */
  readonly error?: string;
}

export interface Journal {
  readonly asked: readonly Asked[];
  /** Tokens of the other writer that it found on the shared block. */
  readonly found: readonly { readonly seq: number; readonly atMs: number }[];
  /** How late its timer was at most. */
  readonly lateMs: number;
}

export function readJournal(lines: readonly string[]): Journal {
  const asked = new Map<number, Asked>();
  const found: { seq: number; atMs: number }[] = [];
  let lateMs = 0;
  for (const line of lines) {
    const [word, first = '', time = '', error = 'unknown'] = line.split(' ');
    const [seq, atMs] = [Number(first), Number(time)];
    if (word === 'late') lateMs = Math.max(lateMs, seq);
    if (word === 'asks') asked.set(seq, { seq, atMs });
    if (word === 'finds') found.push({ seq, atMs });
    if (word !== 'done' && word !== 'fails') continue;
    // A read that fails has no beginning in the journal.
    const begun = asked.get(seq) ?? { seq, atMs };
    asked.set(seq, { ...begun, endedMs: atMs, ...(word === 'fails' && { error }) });
  }
  return { asked: [...asked.values()], found, lateMs };
}

export const isAcked = ({ endedMs, error }: Asked): boolean =>
  endedMs !== undefined && error === undefined;
