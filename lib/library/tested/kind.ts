/** What a run is by the kind of database that it tests: who plays it, who judges it, and what it leaves. */
import type { Checker } from '../../checkers/checker.ts';
import type { RunOptions } from '../../experiment/run/run-context.ts';
import type { Verdict } from '../../experiment/verdict/verdict.ts';
import type { GroupVerdict } from '../../group-replication/verdict.ts';
import type { History } from '../../history/reader.ts';

/** Verdict of whatever kind, with the fields of verdict.json. */
export type AnyVerdict = Verdict | GroupVerdict;

export interface TestedKind<V extends AnyVerdict> {
  /** From nothing to a history. Throws as `recordRun` does. */
  readonly record: (options: RunOptions) => Promise<void>;
  /** `own`: a caller's checkers. */
  readonly judge: (history: History, own: readonly Checker[]) => V;
  /** What it found, for a terminal. */
  readonly headline: (verdict: V) => string;
  /** Leaves verdict.json and the rest there. */
  readonly write: (folder: string, verdict: V, history: History) => Promise<void>;
}

/** A verdict, and what is made of it. */
export interface Judged<V extends AnyVerdict = AnyVerdict> {
  readonly verdict: V;
  readonly headline: string;
  /** Leaves what the run leaves for people and machines; the same history gives the same bytes. */
  write(folder: string): Promise<void>;
}
