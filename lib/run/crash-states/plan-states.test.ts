import fc from 'fast-check';
import { expect, test } from 'vitest';
import { powerLosses } from '../../scenario/disk-kinds.ts';
import { writeOps } from '../../history/writes.ts';
import { drawnWrites, memoryWrites } from '../../../test/support/memory-writes.ts';
import { draws, planStates, type PlanOptions } from './plan-states.ts';

const indexes = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

const plans = fc.record({
  states: fc.integer({ min: 1, max: 30 }),
  policies: fc.subarray([...powerLosses], { minLength: 1 }),
  seed: fc.string(),
  firstAckMs: fc.nat({ max: 40 }),
});

test('a plan draws each moment once a kind, none before the first ack, all of them in order', () => {
  fc.assert(
    fc.property(drawnWrites, plans, (log, options) => {
      const { states, moments } = planStates(log, options);
      const of = (drawn: string): number[] =>
        states.filter((each) => each.drawn === drawn).map((each) => each.position);
      for (const drawn of draws) expect(new Set(of(drawn)).size).toBe(of(drawn).length);
      const quarter = Math.floor(options.states / 4);
      const special = (['at-flush', 'much-unflushed'] as const).map((drawn) => {
        expect(of(drawn).length).toBe(Math.min(moments[drawn], quarter));
        return of(drawn).length;
      });
      const rest = options.states - special.reduce((sum, count) => sum + count, 0);
      expect(of('anywhere').length).toBe(Math.min(moments.anywhere, rest));
      expect(states.map(({ number }) => number)).toEqual(states.map((_, index) => index + 1));
      for (const { atMs, position, policy } of states) {
        expect(atMs).toBeGreaterThanOrEqual(options.firstAckMs);
        // Until the next record, which happens 1 ms later; the last one ends the log.
        expect(atMs).toBe(Math.min(position + 1, log.length - 1));
        expect(options.policies).toContain(policy);
      }
      expect(states).toEqual(
        states.toSorted((a, b) => a.position - b.position || a.number - b.number),
      );
      expect(planStates(log, options).states).toEqual(states);
    }),
  );
});

test('another seed draws other moments, and every policy meets every kind of moment', () => {
  const write = { op: writeOps.write, offset: 0, length: 512, generation: 1 } as const;
  const log = memoryWrites(
    indexes(3000).map((index) =>
      index % 3 === 0
        ? write
        : {
            op: index % 3 === 1 ? writeOps.flushBegin : writeOps.flushEnd,
            offset: index - 1,
            generation: 1,
          },
    ),
  );
  const options: PlanOptions = { states: 80, policies: powerLosses, seed: 'a', firstAckMs: 100 };
  const { states, moments } = planStates(log, options);
  // From record 99 on, which is followed by something at 100 ms: writes and ends of flushes.
  expect(moments).toEqual({ anywhere: 1934, 'at-flush': 1934, 'much-unflushed': 0 });
  expect(states.length).toBe(80);
  const other = planStates(log, { ...options, seed: 'b' });
  expect(other.states.map((each) => each.position)).not.toEqual(
    states.map((each) => each.position),
  );
  for (const policy of powerLosses) {
    for (const [drawn, count] of [
      ['anywhere', 15],
      ['at-flush', 5],
    ] as const) {
      const met = states.filter((each) => each.policy === policy && each.drawn === drawn);
      expect(met.length).toBe(count);
    }
  }
});

test('what is demanded at a moment rests on nothing that came later, also where times are mixed', () => {
  const log = memoryWrites(
    indexes(4).map(() => ({ op: writeOps.write, length: 512, generation: 1 })),
  );
  const mixed = { ...log, atMs: (index: number) => [10, 30, 20, 40][index] ?? 0 };
  const { states } = planStates(mixed, { states: 8, policies: ['drops'], seed: '', firstAckMs: 0 });
  const anywhere = states.filter(({ drawn }) => drawn === 'anywhere');
  expect(anywhere.map(({ atMs }) => atMs)).toEqual([20, 20, 40, 40]);
});
