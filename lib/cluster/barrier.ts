/**
 * Several runs under one fault event: each has its own volume and database, and what happens to the
 * node happens once. They wait for each other at gates, and share the calls that break and mend.
 */

/** In the order in which every run passes them. */
const gates = ['ready', 'fault', 'break', 'kill', 'heal', 'undo', 'close'] as const;
export type Gate = (typeof gates)[number];

/** What one of the runs passes and shares. */
export interface Barrier {
  /** From 1, unlike the others'. */
  readonly number: number;
  /** Resolves when every run is at this gate, is past it, or has left. */
  pass(gate: Gate): Promise<void>;
  /** The n-th call by a name is the same for all: the first to come makes it. */
  once<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** Who asks while another's question by that name is under way has its answer. */
  together<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** The work of a kind, one after the other. */
  inTurn<T>(kind: string, work: () => Promise<T>): Promise<T>;
  /** Nobody waits for this run any more. Idempotent. */
  leave(): void;
}

/** Makes one for each of so many runs, which wait for each other. */
export function barriersFor(count: number): readonly Barrier[] {
  /** Index of the gate that each has come to. */
  const progress = Array.from({ length: count }, () => -1);
  const shared = new Map<string, Promise<unknown>>();
  let waiting: readonly { readonly gate: number; readonly go: () => void }[] = [];
  /** Questions under way. */
  const asked = new Map<string, Promise<unknown>>();
  /** The last work of each kind. */
  const turns = new Map<string, Promise<unknown>>();

  const advance = (run: number, gate: number): void => {
    progress[run] = Math.max(progress[run] ?? gate, gate);
    const open = Math.min(...progress);
    const ready = waiting.filter((each) => each.gate <= open);
    waiting = waiting.filter((each) => each.gate > open);
    for (const { go } of ready) go();
  };

  return progress.map((_, run): Barrier => {
    const calls = new Map<string, number>();
    return {
      number: run + 1,

      pass(gate) {
        const { promise, resolve } = Promise.withResolvers<void>();
        waiting = [...waiting, { gate: gates.indexOf(gate), go: resolve }];
        advance(run, gates.indexOf(gate));
        return promise;
      },

      async once<T>(name: string, work: () => Promise<T>): Promise<T> {
        const nth = (calls.get(name) ?? 0) + 1;
        calls.set(name, nth);
        const key = `${name} ${nth}`;
        const call = shared.get(key) ?? work();
        shared.set(key, call);
        return (await call) as T;
      },

      async together<T>(name: string, work: () => Promise<T>): Promise<T> {
        const answer = asked.get(name) ?? work().finally(() => asked.delete(name));
        asked.set(name, answer);
        return (await answer) as T;
      },

      inTurn<T>(kind: string, work: () => Promise<T>): Promise<T> {
        const mine = (turns.get(kind) ?? Promise.resolve()).then(work);
        turns.set(
          kind,
          mine.catch(() => undefined),
        );
        return mine;
      },

      leave: () => advance(run, gates.length),
    };
  });
}
