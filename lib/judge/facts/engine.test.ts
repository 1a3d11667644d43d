import { expect, test } from 'vitest';
import { bursts } from './changes.ts';
import { type Statement, type Testimony, contradictionsOf, unknown } from './engine.ts';

const sees = { fromMs: 0, toMs: 600 };
const told = (
  witness: string,
  statements: readonly Statement[],
  more: Partial<Testimony> = {},
) => ({
  ...{ witness, lateMs: 0, earlyMs: 0, sees, statements },
  ...more,
});
const span = (value: Statement['value'], fromMs: number, toMs: number): Statement => ({
  ...{ item: 'a', value, fromMs, toMs },
});
const at = (value: string | number, atMs: number): Statement => span(value, atMs, atMs);
const brief = (testimonies: readonly Testimony[]) =>
  contradictionsOf(testimonies).map(
    ({ item, atMs, one, other, count }) =>
      `${item} ${one.value} by ${one.witness}, ${other.value} by ${other.witness} at ${atMs}, ${count}`,
  );

const open = told('log', [span('open', 0, 100)], { otherwise: 'closed' });

test('a sighting within a span of another value contradicts it, on its edge by so much it may not', () => {
  const seen = [at('open', 50), at('open', 120), at('open', 130)];
  expect(brief([open, told('acks', seen)])).toEqual(['a closed by log, open by acks at 120, 2']);
  expect(brief([open, told('acks', seen, { lateMs: 20 })])).toEqual([
    'a closed by log, open by acks at 130, 1',
  ]);
  expect(brief([open, told('acks', seen, { lateMs: 30 })])).toEqual([]);
});

test('a late report of a change agrees, one that never comes does not', () => {
  const late = { lateMs: 30, otherwise: 'closed' };
  expect(brief([open, told('watch', [span('open', 25, 125)], late)])).toEqual([]);
  expect(brief([open, told('watch', [span('open', 35, 125)], late)])).toEqual([
    'a open by log, closed by watch at 0, 1',
  ]);
  const other = told('watch', [{ ...span('open', 0, 100), item: 'b' }], late);
  expect(brief([open, other])).toEqual([
    'a open by log, closed by watch at 0, 1',
    'b closed by log, open by watch at 0, 1',
  ]);
});

test('what nobody knows agrees with everything, and fills its place', () => {
  const gap = told('driver', [span(unknown, 90, 600)], { otherwise: 'open' });
  expect(brief([open, gap])).toEqual([]);
});

test('two values at once of one witness contradict each other', () => {
  expect(brief([told('api', [span('pod 1', 0, 600), span('pod 2', 100, 200)])])).toEqual([
    'a pod 1 by api, pod 2 by api at 100, 2',
  ]);
});

test('counts may lag behind each other, and never run backwards', () => {
  const log = told('log', [at(10, 100), at(20, 200), at(30, 300)], { slack: 1 });
  const counter = (...counts: readonly Statement[]) => told('counter', counts, { lateMs: 50 });
  expect(brief([log, counter(at(10, 140), at(21, 240), at(30, 310))])).toEqual([]);
  expect(brief([log, counter(at(10, 140), at(22, 240), at(30, 310))])).toEqual([
    'a 20 by log, 22 by counter at 240, 1',
  ]);
  expect(brief([counter(at(20, 140), at(10, 240))])).toEqual([
    'a 10 by counter, 20 by counter at 240, 1',
  ]);
});

test('a pause that one witness joins and another does not is no contradiction, a long one is', () => {
  const seconds = (...spans: readonly [number, number][]): number[] =>
    spans.flatMap(([from, to]) =>
      Array.from({ length: to - from + 1 }, (_, n) => (from + n) * 1000),
    );
  const sees = { fromMs: 0, toMs: 200_000 };
  const found = (pauseS: number) =>
    contradictionsOf([
      {
        ...{ witness: 'log', lateMs: 1000, earlyMs: 1000, sees, otherwise: 'idle' },
        statements: bursts('a', 'writing', seconds([10, 60], [60 + pauseS, 180])),
      },
      {
        ...{ witness: 'devices', lateMs: 15_000, earlyMs: 15_000, sees, otherwise: 'idle' },
        statements: bursts('a', 'writing', seconds([10, 180])),
      },
    ]);
  expect(found(6)).toEqual([]);
  expect(found(45)).toHaveLength(1);
});
