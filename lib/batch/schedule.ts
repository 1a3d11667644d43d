/** Runs a queue on slots, side by side; what needs more room has a cluster or all of them to itself. */

/** Where one item at a time can run; several slots may be on one cluster. */
export interface Slot {
  /** Unique. */
  readonly name: string;
  readonly cluster: string;
}

/** What an item must have for itself: its slot, the whole cluster, or the machine. */
export type Room = 'slot' | 'cluster' | 'machine';

export interface Running<T> {
  readonly item: T;
  readonly slot: Slot;
}

export interface Queue<T> {
  readonly items: readonly T[];
  readonly slots: readonly Slot[];
  readonly roomOf: (item: T) => Room;
  /** What all these take of the machine while they run. */
  readonly loadOf: (running: readonly Running<T>[]) => number;
  /** What the machine carries of it at once; a single item runs however much it takes. */
  readonly loadLimit: number;
  /** Must not reject. What it resolves to joins the queue's end. */
  readonly work: (item: T, slot: Slot) => Promise<readonly T[]>;
  readonly signal: AbortSignal;
}

/**
 * Begins the items in their order, each on the slot where it costs least; one that finds no room, or
 * is too much beside those that run, waits, and others behind it go first. What needs the machine
 * waits until all others have ended, and nothing begins before it has. After an abort nothing begins;
 * resolves when the last has ended.
 */
export async function runQueue<T>(options: Queue<T>): Promise<void> {
  const { work, signal } = options;
  const queue = [...options.items];
  // Those that were used come first: such a slot has its cluster already.
  let slots = [...options.slots];
  const running = new Map<Promise<void>, Running<T>>();

  const begin = (item: T, slot: Slot): void => {
    const task = work(item, slot).then((more) => {
      queue.push(...more);
      slots = [slot, ...slots.filter((each) => each !== slot)];
      running.delete(task);
    });
    running.set(task, { item, slot });
  };

  for (;;) {
    const next = signal.aborted ? undefined : nextOf(queue, slots, [...running.values()], options);
    if (next !== undefined) {
      queue.splice(queue.indexOf(next.item), 1);
      begin(next.item, next.slot);
    } else if (running.size > 0) {
      await Promise.race(running.keys());
    } else {
      return;
    }
  }
}

/** The first that may begin beside these, and where; undefined where none may. */
function nextOf<T>(
  queue: readonly T[],
  slots: readonly Slot[],
  beside: readonly Running<T>[],
  options: Pick<Queue<T>, 'roomOf' | 'loadOf' | 'loadLimit'>,
): Running<T> | undefined {
  const { roomOf, loadOf, loadLimit } = options;
  const wantsSlot = (item: T): boolean => roomOf(item) === 'slot';
  /** Has slots that nobody could use while one item has the cluster. */
  const isPooled = ({ cluster }: Slot): boolean =>
    slots.filter((slot) => slot.cluster === cluster).length > 1;
  if (beside.some(({ item }) => roomOf(item) === 'machine')) return undefined;
  for (const item of queue) {
    if (roomOf(item) === 'machine' && beside.length > 0) return undefined;
    const choices = slots
      .filter((slot) => hasRoom(roomOf(item), slot, beside, roomOf))
      .filter((slot) => !isPooled(slot) || roomOf(item) === 'slot' || !queue.some(wantsSlot))
      .map((slot) => ({ item, slot, load: loadOf([...beside, { item, slot }]) }))
      .filter(({ load }) => beside.length === 0 || load <= loadLimit);
    const best = choices.toSorted((a, b) => a.load - b.load)[0];
    if (best !== undefined) return best;
  }
  return undefined;
}

function hasRoom<T>(
  room: Room,
  slot: Slot,
  beside: readonly Running<T>[],
  roomOf: (item: T) => Room,
): boolean {
  const neighbours = beside.filter((each) => each.slot.cluster === slot.cluster);
  if (room !== 'slot') return neighbours.length === 0;
  return neighbours.every((each) => each.slot !== slot && roomOf(each.item) === 'slot');
}
