/** Runs a queue on slots, side by side; what must be alone has all of them to itself. */

export interface Queue<T> {
  readonly items: readonly T[];
  readonly slots: readonly string[];
  readonly isAlone: (item: T) => boolean;
  /** What an item takes of the machine while it runs. */
  readonly loadOf: (item: T) => number;
  /** What the machine carries of it at once; a single item runs however much it takes. */
  readonly loadLimit: number;
  /** Must not reject. What it resolves to joins the queue's end. */
  readonly work: (item: T, slot: string) => Promise<readonly T[]>;
  readonly signal: AbortSignal;
}

/**
 * Begins the items in their order, each on a free slot; one that is too much beside those that run
 * waits, and lighter ones behind it go first. An item that `isAlone` waits until all others have
 * ended, and nothing begins before it has. After an abort nothing begins; resolves when the last has
 * ended.
 */
export async function runQueue<T>(options: Queue<T>): Promise<void> {
  const { slots, isAlone, work, signal } = options;
  const queue = [...options.items];
  const free = [...slots];
  const running = new Map<Promise<void>, T>();

  const begin = (item: T, slot: string): void => {
    const task = work(item, slot).then((more) => {
      queue.push(...more);
      // First in line: a slot that was used has its cluster already.
      free.unshift(slot);
      running.delete(task);
    });
    running.set(task, item);
  };

  for (;;) {
    const beside = [...running.values()];
    const index = signal.aborted || beside.some(isAlone) ? -1 : nextOf(queue, beside, options);
    const next = queue[index];
    const slot = free[0];
    if (next !== undefined && slot !== undefined) {
      queue.splice(index, 1);
      free.shift();
      begin(next, slot);
    } else if (running.size > 0) {
      await Promise.race(running.keys());
    } else {
      return;
    }
  }
}

/** Index of the first that may begin beside these, −1 where none may. */
function nextOf<T>(
  queue: readonly T[],
  beside: readonly T[],
  { isAlone, loadOf, loadLimit }: Pick<Queue<T>, 'isAlone' | 'loadOf' | 'loadLimit'>,
): number {
  if (beside.length === 0) return queue.length > 0 ? 0 : -1;
  const load = beside.reduce((sum, item) => sum + loadOf(item), 0);
  const lone = queue.findIndex(isAlone);
  const before = lone === -1 ? queue : queue.slice(0, lone);
  return before.findIndex((item) => load + loadOf(item) <= loadLimit);
}
