/** What a disk had promised, what a loss of power leaves, and which moments are drawn. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { powerLosses } from '../disk-kinds.ts';
import { writeOps } from '../history/writes.ts';
import { randomStream } from '../random.ts';
import {
  changesImage,
  drawnWrites,
  isDurable,
  memoryWrites,
} from '../../test/support/memory-writes.ts';
import { draws, planStates, type PlanOptions } from './plan.ts';
import { SectorVersions } from './sector-versions.ts';
import { survivors } from './survivors.ts';
import { VolatileCache } from './volatile-cache.ts';

const position = fc.nat({ max: 39 });
const indexes = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

test('every write by then is durable or unflushed, and none that came later is either', () => {
  fc.assert(
    fc.property(drawnWrites, position, position, (log, one, other) => {
      const [first = 0, last = 0] = [one, other]
        .map((at) => Math.min(at, log.length - 1))
        .toSorted((a, b) => a - b);
      const cache = new VolatileCache(log);
      const durable = [...cache.advance(first), ...cache.advance(last)].toSorted((a, b) => a - b);
      const writes = indexes(last + 1).filter((index) => changesImage(log, index));
      expect(durable).toEqual(writes.filter((index) => isDurable(log, index, last)));
      expect(cache.unflushed()).toEqual(writes.filter((index) => !isDurable(log, index, last)));
    }),
  );
});

test('a full cache makes its oldest writes durable, whatever path they came by', () => {
  const write = { op: writeOps.write, offset: 0, length: 1024 } as const;
  const log = memoryWrites([1, 1, 2, 1, 2].map((generation) => ({ ...write, generation })));
  const cache = new VolatileCache(log, 2048);
  expect(cache.advance(1)).toEqual([]);
  expect(cache.advance(2)).toEqual([0]);
  expect(cache.advance(3)).toEqual([1]);
  expect(cache.unflushed()).toEqual([2, 3]);
  expect(cache.advance(4)).toEqual([2]);
});

test('writes may reach an image in any order: each sector ends with its youngest', () => {
  const range = fc.record({ first: fc.nat({ max: 9 }), count: fc.integer({ min: 1, max: 10 }) });
  const claim = fc.record({ index: fc.nat({ max: 20 }), range });
  fc.assert(
    fc.property(fc.array(claim, { size: 'max', maxLength: 30 }), (claims) => {
      const versions = new SectorVersions();
      const image = Array.from({ length: 20 }, () => -1);
      const plain = Array.from({ length: 20 }, () => -1);
      for (const {
        index,
        range: { first, count },
      } of claims) {
        const bytes = { offset: first * 512, length: count * 512 };
        expect(versions.claim(index, bytes)).toEqual(versions.unclaimed(index, bytes));
        for (const { offset, length } of versions.unclaimed(index, bytes)) {
          image.fill(index, offset / 512, (offset + length) / 512);
        }
        for (let sector = first; sector < first + count; sector += 1) {
          plain[sector] = Math.max(plain[sector] ?? -1, index);
        }
        expect(image).toEqual(plain);
      }
    }),
  );
  expect(() => new SectorVersions().claim(0, { offset: 0, length: 100 })).toThrow(/whole sectors/);
});

test('a loss of power within the run leaves what it decided, and what it put back', () => {
  const at = { offset: 0, length: 512, generation: 1 };
  const log = memoryWrites([
    { op: writeOps.write, ...at },
    { op: writeOps.powerLost, generation: 1 },
    { op: writeOps.restored, ...at },
  ]);
  const cache = new VolatileCache(log);
  expect(cache.advance(2)).toEqual([0, 2]);
  expect(cache.unflushed()).toEqual([]);
});

test('a disk that ignores flushes promises nothing', () => {
  const log = memoryWrites([
    { op: writeOps.write, offset: 0, length: 512, generation: 1 },
    { op: writeOps.flushIgnored, generation: 1 },
  ]);
  const cache = new VolatileCache(log);
  expect(cache.advance(1)).toEqual([]);
  expect(cache.unflushed()).toEqual([0]);
});

test('hundreds of thousands of writes may become durable at once', () => {
  const write = { op: writeOps.write, offset: 0, length: 512, generation: 1 };
  const writes = Array.from({ length: 300_000 }, () => write);
  const cache = new VolatileCache(memoryWrites([...writes, { op: writeOps.close, generation: 1 }]));
  expect(cache.advance(writes.length)).toHaveLength(writes.length);
});

test('survivors are unflushed writes, torn ones end at a sector, and the seed decides', () => {
  fc.assert(
    fc.property(drawnWrites, fc.constantFrom(...powerLosses), fc.string(), (log, policy, seed) => {
      const unflushed = indexes(log.length).filter((index) => changesImage(log, index));
      const kept = survivors(policy, log, unflushed, randomStream(seed));
      expect(survivors(policy, log, unflushed, randomStream(seed))).toEqual(kept);
      for (const { index, length } of kept) {
        expect(unflushed).toContain(index);
        expect(length % 512).toBe(0);
        const whole = log.at(index).length;
        if (policy === 'tears') expect(length).toBeGreaterThan(0);
        if (policy === 'tears') expect(length).toBeLessThan(whole);
        else expect(length).toBe(whole);
      }
      if (policy === 'keeps') expect(kept.map(({ index }) => index)).toEqual(unflushed);
      if (policy === 'drops') expect(kept).toEqual([]);
      const tearable = unflushed.some((index) => log.at(index).length > 512);
      if (policy === 'tears') expect(kept.length).toBe(tearable ? 1 : 0);
    }),
  );
});

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
