/** Runs a queue on slots, side by side; what must be alone has all of them to itself. */

/**
 * Begins the items in their order, each on a free slot. An item that `isAlone` waits until all
 * others have ended, and nothing begins before it has. What `work` resolves to joins the queue's
 * end. `work` must not reject. After an abort nothing begins; resolves when the last has ended.
 */
export async function runQueue<T>(options: {
  readonly items: readonly T[];
  readonly slots: readonly string[];
  readonly isAlone: (item: T) => boolean;
  readonly work: (item: T, slot: string) => Promise<readonly T[]>;
  readonly signal: AbortSignal;
}): Promise<void> {
  const { slots, isAlone, work, signal } = options;
  const queue = [...options.items];
  const free = [...slots];
  const running = new Set<Promise<void>>();
  let alone = false;

  const begin = (item: T, slot: string): void => {
    const task = work(item, slot).then((more) => {
      queue.push(...more);
      free.push(slot);
      running.delete(task);
      if (running.size === 0) alone = false;
    });
    running.add(task);
  };

  for (;;) {
    const next = queue[0];
    const slot = free[0];
    const mayBegin = next !== undefined && !alone && (running.size === 0 || !isAlone(next));
    if (mayBegin && slot !== undefined && !signal.aborted) {
      queue.shift();
      free.shift();
      alone = isAlone(next);
      begin(next, slot);
    } else if (running.size > 0) {
      await Promise.race(running);
    } else {
      return;
    }
  }
}
