import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runQueue, type Room, type Slot } from './run-batch.ts';

interface Job {
  readonly id: number;
  readonly alone: boolean;
  /** It has its cluster for itself. Default false. */
  readonly wantsCluster?: boolean;
  /** Default 1. */
  readonly load?: number;
  /** How many turns of the event loop it takes. */
  readonly turns: number;
  /** Joins the queue when this one ends. */
  readonly more?: Job;
}

const job = fc.record({ alone: fc.boolean(), turns: fc.integer({ min: 0, max: 5 }) });
const jobs = fc
  .array(fc.record({ job, again: fc.option(job, { nil: undefined }) }), { maxLength: 20 })
  .map((each) =>
    each.map(({ job, again }, id): Job => {
      const more = again === undefined ? {} : { more: { ...again, id: 1000 + id } };
      return { ...job, id, ...more };
    }),
  );

const roomOf = ({ alone, wantsCluster = false }: Job): Room =>
  alone ? 'machine' : wantsCluster ? 'cluster' : 'slot';

const sumOf = (jobs: readonly Job[]): number => jobs.reduce((sum, { load = 1 }) => sum + load, 0);

/** Each slot on a cluster of its own, where only their number is given. */
async function play(
  items: readonly Job[],
  slots: number | readonly Slot[],
  { abortAfter = Infinity, loadLimit = Infinity, spacingMs = 0 } = {},
) {
  let nowMs = 0;
  const beganAtMs: number[] = [];
  const controller = new AbortController();
  const begun: Job[] = [];
  const neighbours: number[] = [];
  const running = new Map<Job, Slot>();
  const places: [number, string][] = [];
  let wrong = 0;
  let heaviest = 0;
  await runQueue<Job>({
    items,
    slots:
      typeof slots === 'number'
        ? Array.from({ length: slots }, (_, index) => {
            const name = `slot ${index}`;
            return { name, cluster: name };
          })
        : slots,
    roomOf,
    loadOf: (all) => sumOf(all.map(({ item }) => item)),
    ...{ loadLimit, spacingMs, signal: controller.signal },
    sleep: (ms, signal) => {
      nowMs += ms;
      return signal?.aborted === true ? Promise.reject(new Error('aborted')) : Promise.resolve();
    },
    async work(item, slot) {
      if ([...running.values()].includes(slot)) wrong += 1;
      if ([...running.keys()].some(({ alone }) => alone || item.alone)) wrong += 1;
      const near = [...running].filter(([, each]) => each.cluster === slot.cluster);
      if (near.some(([each]) => each.wantsCluster || item.wantsCluster)) wrong += 1;
      running.set(item, slot);
      places.push([item.id, slot.name]);
      begun.push(item);
      beganAtMs.push(nowMs);
      neighbours.push(running.size);
      heaviest = Math.max(heaviest, sumOf([...running.keys()]));
      if (begun.length === abortAfter) controller.abort();
      for (let turn = 0; turn < item.turns; turn += 1) await Promise.resolve();
      running.delete(item);
      return item.more === undefined ? [] : [item.more];
    },
  });
  return { begun, beganAtMs, places, neighbours, heaviest, wrong, left: running.size };
}

const slots = fc.integer({ min: 1, max: 4 });

test('each job once, in order, one a slot, and alone what must be', async () => {
  await fc.assert(
    fc.asyncProperty(jobs, slots, async (items, slotCount) => {
      const { begun, wrong, left } = await play(items, slotCount);
      const first = begun.filter(({ id }) => id < 1000);
      expect(first).toEqual(items);
      const more = items.flatMap(({ more }) => (more === undefined ? [] : [more.id]));
      const later = begun.filter(({ id }) => id >= 1000).map(({ id }) => id);
      expect(later.toSorted((a, b) => a - b)).toEqual(more);
      expect({ wrong, left }).toEqual({ wrong: 0, left: 0 });
    }),
  );
});

test('after an abort nothing begins, and what ran has ended', async () => {
  await fc.assert(
    fc.asyncProperty(jobs, slots, fc.integer({ min: 1, max: 20 }), async (items, count, after) => {
      const { begun, left } = await play(items, count, { abortAfter: after });
      expect(begun.length).toBeLessThanOrEqual(after);
      expect(left).toBe(0);
    }),
  );
});

test('two begin no nearer to each other than the spacing, and the last waits for nothing', async () => {
  const items = [1, 2, 3].map((id): Job => ({ id, alone: false, turns: 5 }));
  const { beganAtMs } = await play(items, 3, { spacingMs: 90_000 });
  expect(beganAtMs).toEqual([0, 90_000, 180_000]);
});

const pooled: readonly Slot[] = [
  { name: 'a/1', cluster: 'a' },
  { name: 'a/2', cluster: 'a' },
  { name: 'b', cluster: 'b' },
];

test('nothing joins what has a cluster to itself', async () => {
  const some = fc.record({ wantsCluster: fc.boolean(), turns: fc.integer({ min: 0, max: 5 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(some, { maxLength: 20 }), async (drawn) => {
      const items = drawn.map((each, id): Job => ({ ...each, id, alone: false }));
      const { begun, wrong, left } = await play(items, pooled);
      expect(begun).toHaveLength(items.length);
      expect({ wrong, left }).toEqual({ wrong: 0, left: 0 });
    }),
  );
});
