/**
 * The evidence of one image while it is gathered. A step that fails is a named gap, and what mysqld
 * refuses is evidence; neither ends the work.
 */
import { nothingRead, type ImageEvidence, type ServerStart } from '../../../checkers/evidence.ts';
import { describeError, EvidenceError } from '../../../errors.ts';
import type { Mysqld } from './mysqld.ts';

type Writable<T> = { -readonly [K in keyof T]: T[K] };
type Draft = Writable<ImageEvidence> & {
  starts: ServerStart[];
  failures: string[];
  sqlFailures: { what: string; error: string }[];
  durationsMs: Record<string, number>;
};

export class EvidenceDraft {
  readonly evidence: Draft = {
    ...nothingRead,
    starts: [],
    failures: [],
    sqlFailures: [],
    durationsMs: {},
  };
  readonly #signal: AbortSignal;
  readonly #onStep: (step: string) => void;

  constructor(signal: AbortSignal, onStep: (step: string) => void = () => undefined) {
    this.#signal = signal;
    this.#onStep = onStep;
  }

  /** Times one step; what it throws becomes a named gap. Rejects only when it was aborted. */
  async step(name: string, work: () => Promise<void>): Promise<void> {
    this.#signal.throwIfAborted();
    this.#onStep(name);
    const startedMs = performance.now();
    try {
      await work();
    } catch (error) {
      this.#signal.throwIfAborted();
      this.evidence.failures.push(`${name}: ${describeError(error)}`);
    } finally {
      this.evidence.durationsMs[name] = Math.round(performance.now() - startedMs);
    }
  }

  /**
   * One question to the server; resolves to why it got no answer. A refusal is evidence of damage. A
   * dead server has a record of its own, and one that was only slow is a gap (EvidenceError).
   */
  async ask(
    what: string,
    server: Pick<Mysqld, 'died' | 'diedSoon'>,
    question: () => Promise<void>,
  ): Promise<string | undefined> {
    let refused: string | undefined;
    await this.step(what, async () => {
      if (server.died !== undefined) return;
      try {
        await question();
      } catch (error) {
        refused = describeError(error);
        if (error instanceof EvidenceError) throw error;
        if (await server.diedSoon()) return;
        this.evidence.sqlFailures.push({ what, error: refused });
      }
    });
    return refused;
  }
}
