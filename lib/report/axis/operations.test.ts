/** Operations in the report: nothing is lost on the way, and no view hides an outlier or a gap. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Operation } from '../../history/reader.ts';
import {
  operationColumns,
  packOperations,
  plotOperations,
  prepareOperations,
  unpackOperations,
  type PlotData,
  type Series,
} from './operations.ts';

const server = { node: 'node-a', podUid: 'made-up', startedAtS: 0 };
const zeroMs = 60_000;
const runEndMs = 2_000_000;

/** Gaps between acknowledgements and latencies in µs, of two clients with two connections each. */
const operations = fc
  .array(
    fc.record({
      pauseUs: fc.nat(5_000_000),
      latencyUs: fc.nat(3_000_000),
      client: fc.constantFrom('inside', 'outside'),
      connection: fc.nat(1),
      outcome: fc.constantFrom('ok', 'ok', 'ok', 'fail', 'info'),
      error: fc.constantFrom(undefined, 'gone away', 'read-only'),
      known: fc.boolean(),
    }),
    { minLength: 1, maxLength: 200 },
  )
  .map((steps): Operation[] => {
    let atUs = 0;
    return steps.map(({ pauseUs, latencyUs, outcome, error, known, ...id }, seq) => {
      atUs += pauseUs;
      const endedAtMs = (atUs + latencyUs) / 1000;
      const operation = { ...id, session: 0, seq, kind: 'append', sentAtMs: atUs / 1000 } as const;
      return {
        ...operation,
        outcome,
        endedAtMs,
        ...(error === undefined || outcome === 'ok' ? {} : { error }),
        ...(known ? { server } : {}),
      };
    });
  });

const columnsOf = (some: readonly Operation[]) => operationColumns(some, zeroMs, runEndMs);

test('packed and unpacked, every operation is the same to the microsecond', () => {
  fc.assert(
    fc.property(operations, (some) => {
      const columns = columnsOf(some);
      expect(unpackOperations(packOperations(columns))).toEqual(columns);
    }),
    { numRuns: 100 },
  );
});

const highest = (lines: readonly Series[]): number =>
  Math.max(-1, ...lines.flatMap(({ points }) => points.map(([, value]) => value ?? -1)));
const total = ({ rates, widthS }: PlotData): number =>
  rates
    .flatMap(({ points }) => points.map(([, v]) => (v ?? 0) * widthS))
    .reduce((a, b) => a + b, 0);

test('whatever the view, its slowest commit and its longest pause are in sight', () => {
  const view = fc.tuple(
    fc.double({ min: -70, max: 900, noNaN: true }),
    fc.constantFrom(0.5, 20, 1500),
  );
  fc.assert(
    fc.property(operations, view, (some, [fromS, spanS]) => {
      const toS = fromS + spanS;
      const prepared = prepareOperations(columnsOf(some));
      const plot = plotOperations(prepared, fromS, toS);
      const acked = some
        .filter(({ outcome }) => outcome === 'ok')
        .map((each) => ({ ...each, endS: (Number(each.endedAtMs) - zeroMs) / 1000 }))
        .toSorted((a, b) => a.endS - b.endS);
      const inView = acked.filter(({ endS }) => endS >= fromS && endS < toS);
      const slowest = Math.max(
        -1,
        ...inView.map((each) => each.endS * 1000 + zeroMs - each.sentAtMs),
      );
      expect(highest(plot.slowest)).toBeGreaterThanOrEqual(slowest - 0.001);
      expect(Math.round(total(plot))).toBeGreaterThanOrEqual(inView.length);
      for (const client of ['inside', 'outside']) {
        const times = acked.filter((each) => each.client === client).map(({ endS }) => endS);
        const reaching = times
          .map((at, index) => [times[index - 1] ?? at, at] as const)
          .filter(([from, to]) => to >= fromS && from < toS);
        const longest = Math.max(-1, ...reaching.map(([from, to]) => (to - from) * 1000));
        const line = plot.pauses.filter(({ name }) => name === client);
        expect(highest(line)).toBeGreaterThanOrEqual(longest - 0.001);
      }
    }),
    { numRuns: 200 },
  );
});
