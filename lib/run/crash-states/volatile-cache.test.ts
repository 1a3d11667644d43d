import fc from 'fast-check';
import { expect, test } from 'vitest';
import { writeOps } from '../../history/writes.ts';
import {
  changesImage,
  drawnWrites,
  isDurable,
  memoryWrites,
} from '../../../test/support/memory-writes.ts';
import { VolatileCache } from './plan-states.ts';

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
