/**
 * Rows that somebody saw: on a copy of the volume, or as a server's newest row. They were committed,
 * whatever their client was told, so every later copy has to hold them.
 */
import { SessionMap, type OpId } from '../../history/index.ts';

export interface SeenCommit extends OpId {
  /** A copy that was begun later must hold it, ms on the run's clock. */
  readonly atMs: number;
  /** Who saw it, e.g. `the first image`. */
  readonly by: string;
}

export class SeenCommits implements Iterable<SeenCommit> {
  readonly #bySession = new SessionMap<Map<number, SeenCommit>>();
  readonly #all: Map<number, SeenCommit>[] = [];

  /** Keeps the first one of several who saw it. */
  add(seen: SeenCommit): void {
    let ofSession = this.#bySession.get(seen);
    if (ofSession === undefined) {
      ofSession = new Map();
      this.#bySession.set(seen, ofSession);
      this.#all.push(ofSession);
    }
    const before = ofSession.get(seen.seq);
    if (before === undefined || seen.atMs < before.atMs) ofSession.set(seen.seq, seen);
  }

  get(op: OpId): SeenCommit | undefined {
    return this.#bySession.get(op)?.get(op.seq);
  }

  *[Symbol.iterator](): Iterator<SeenCommit> {
    for (const ofSession of this.#all) yield* ofSession.values();
  }
}
