import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runQueue } from './schedule.ts';

interface Job {
  readonly id: number;
  readonly alone: boolean;
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

async function play(
  items: readonly Job[],
  slotCount: number,
  { abortAfter = Infinity, loadLimit = Infinity } = {},
) {
  const controller = new AbortController();
  const begun: Job[] = [];
  const neighbours: number[] = [];
  const running = new Map<Job, string>();
  let wrong = 0;
  let heaviest = 0;
  await runQueue({
    items,
    slots: Array.from({ length: slotCount }, (_, index) => `slot ${index}`),
    isAlone: ({ alone }) => alone,
    loadOf: ({ load = 1 }) => load,
    loadLimit,
    signal: controller.signal,
    async work(item, slot) {
      if ([...running.values()].includes(slot)) wrong += 1;
      if ([...running.keys()].some(({ alone }) => alone || item.alone)) wrong += 1;
      running.set(item, slot);
      begun.push(item);
      neighbours.push(running.size);
      const load = [...running.keys()].reduce((sum, { load = 1 }) => sum + load, 0);
      heaviest = Math.max(heaviest, load);
      if (begun.length === abortAfter) controller.abort();
      for (let turn = 0; turn < item.turns; turn += 1) await Promise.resolve();
      running.delete(item);
      return item.more === undefined ? [] : [item.more];
    },
  });
  return { begun, neighbours, heaviest, wrong, left: running.size };
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

test('jobs that disturb nobody use all slots', async () => {
  const items = Array.from({ length: 6 }, (_, id): Job => ({ id, alone: false, turns: 3 }));
  const { neighbours } = await play(items, 3);
  expect(Math.max(...neighbours)).toBe(3);
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

test('what is too much beside the others waits, and lighter ones go first', async () => {
  const heavy = (id: number): Job => ({ id, alone: false, load: 4, turns: 9 });
  const light = (id: number): Job => ({ id, alone: false, load: 2, turns: 1 });
  const items = [heavy(0), heavy(1), heavy(2), light(3), light(4)];
  const { begun, heaviest } = await play(items, 4, { loadLimit: 10 });
  expect(begun.map(({ id }) => id)).toEqual([0, 1, 3, 4, 2]);
  expect(heaviest).toBe(10);
});

test('one that is too much for the machine runs by itself', async () => {
  const items = [0, 1].map((id): Job => ({ id, alone: false, load: 4, turns: 2 }));
  const { begun, neighbours } = await play(items, 2, { loadLimit: 3 });
  expect(begun).toEqual(items);
  expect(neighbours).toEqual([1, 1]);
});
