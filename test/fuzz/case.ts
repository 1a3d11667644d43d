/** What a case of the fuzz suite is: one command with one thing made strange, and how it may end. */
import type { RandomStream } from '../../lib/core/random.ts';

/** One thing that was made strange, and the command line that meets it. */
export interface Draft {
  readonly args: readonly string[];
  /** In a word or two. */
  readonly how: string;
  /** Exit codes that are right. 4 never is: nothing here needs a machine. */
  readonly allowed: readonly number[];
}

/** What of a command can be made strange: its flags, or one kind of file that it reads. */
export interface Surface {
  readonly name: string;
  /** Each gets as many cases as the others. */
  readonly fields: readonly string[];
  /** Writes what is needed into `folder`, which is new and the case's own. */
  make(field: string, draws: RandomStream, folder: string): Draft;
}

export interface FuzzCase extends Draft {
  readonly number: number;
  /** Of the file in experiments/, without its ending. */
  readonly command: string;
  readonly surface: string;
  readonly field: string;
}

export function pick<T>(draws: RandomStream, all: readonly T[]): T {
  const found = all[draws.int(0, all.length - 1)];
  if (found === undefined) throw new RangeError('nothing to pick from');
  return found;
}

/** In an order of its own. */
export function shuffled<T>(draws: RandomStream, all: readonly T[]): T[] {
  return all
    .map((one) => ({ one, at: draws.float() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ one }) => one);
}
