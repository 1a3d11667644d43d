import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runQueue } from './schedule.ts';

interface Job {
  readonly id: number;
  readonly alone: boolean;
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

async function play(items: readonly Job[], slotCount: number, abortAfter = Infinity) {
  const controller = new AbortController();
  const begun: Job[] = [];
  const neighbours: number[] = [];
  const running = new Map<Job, string>();
  let wrong = 0;
  await runQueue({
    items,
    slots: Array.from({ length: slotCount }, (_, index) => `slot ${index}`),
    isAlone: ({ alone }) => alone,
    signal: controller.signal,
    async work(item, slot) {
      if ([...running.values()].includes(slot)) wrong += 1;
      if ([...running.keys()].some(({ alone }) => alone || item.alone)) wrong += 1;
      running.set(item, slot);
      begun.push(item);
      neighbours.push(running.size);
      if (begun.length === abortAfter) controller.abort();
      for (let turn = 0; turn < item.turns; turn += 1) await Promise.resolve();
      running.delete(item);
      return item.more === undefined ? [] : [item.more];
    },
  });
  return { begun, neighbours, wrong, left: running.size };
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
      const { begun, left } = await play(items, count, after);
      expect(begun.length).toBeLessThanOrEqual(after);
      expect(left).toBe(0);
    }),
  );
});
