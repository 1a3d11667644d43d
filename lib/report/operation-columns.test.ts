/** Operations in the report: nothing is lost on the way, and no view hides an outlier or a gap. */
import { inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Operation } from '../history/operations.ts';
import {
  describeOperation,
  plotOperations,
  prepareOperations,
  unpackOperations,
  type PlotData,
  type Series,
} from './axis/operations.ts';
import { exampleHistory } from '../../test/support/example-history.ts';
import { exampleSource } from '../../test/support/example-source.ts';
import { operationColumns, packOperations } from './operation-columns.ts';

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
      const { about, packed } = packOperations(columns);
      const again = unpackOperations(inflateRawSync(Buffer.from(packed, 'base64')), about);
      expect(again).toEqual(columns);
    }),
    { numRuns: 100 },
  );
});

test('an operation says who sent what, when and what became of it', () => {
  const id = { client: 'inside', connection: 1, session: 2, seq: 17 };
  const made = columnsOf([
    { ...id, kind: 'transfer', sentAtMs: 61_000, outcome: 'info' },
    {
      ...id,
      seq: 16,
      kind: 'append',
      sentAtMs: 60_500,
      outcome: 'fail',
      endedAtMs: 60_502.5,
      error: 'no',
      server,
    },
  ]);
  expect(describeOperation(made, 0)).toMatchObject({
    endS: 0.5025,
    latencyMs: 2.5,
    id: 'inside/1/2/16',
    node: 'node-a',
    kind: 'append',
    outcome: 'fail',
    error: 'no',
  });
  expect(describeOperation(made, 1)).toMatchObject({
    endS: 1940,
    id: 'inside/1/2/17',
    node: 'unknown node',
    kind: 'transfer',
    outcome: 'no outcome on record',
  });
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

test('near enough, each operation is a point; from afar, intervals stand for them', () => {
  const prepared = prepareOperations(operationColumns(exampleSource.ops(), 60_000, 560_000));
  const far = plotOperations(prepared, -60, 500);
  expect(far.points).toBeNull();
  expect(far.widthS).toBe(1);
  expect(Math.round(total(far))).toBe(
    exampleHistory().filter(({ type }) => type === 'outcome').length,
  );
  const near = plotOperations(prepared, 100.1, 101.05);
  expect(near.points).toHaveLength(near.inView[1] - near.inView[0]);
  expect(near.inView[1] - near.inView[0]).toBe(2);
});

test('nobody answers: the pause lasts, and the latency has a gap', () => {
  const prepared = prepareOperations(operationColumns(exampleSource.ops(), 60_000, 560_000));
  const { pauses, slowest } = plotOperations(prepared, -60, 500);
  const pause = pauses.find(({ name }) => name === 'outside')?.points;
  expect(pause?.find(([atS]) => atS === 200)?.[1]).toBeCloseTo(416_500, -3);
  const line = slowest.find(({ name }) => name === 'outside → example-worker2')?.points;
  expect(line?.find(([atS]) => atS === 200)).toEqual([200, null]);
});
