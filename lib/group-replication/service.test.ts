import { expect, test } from 'vitest';
import { Acknowledged } from './service.ts';

const acknowledged = new Acknowledged();
for (const [session, seq, atMs] of [
  [0, 0, 100],
  [0, 1, 200],
  [1, 0, 5000],
  [1, 2, 6000],
] as const) {
  acknowledged.add({ connection: 0, session }, { seq, atMs });
}

test('a read is behind by the age of the oldest acknowledged row that it lacks', () => {
  const behind = (beganAtMs: number, heads: Record<string, number>): number =>
    acknowledged.behindMs({ beganAtMs, heads });
  expect(behind(7000, { '0/0': 1, '0/1': 2 })).toBe(0);
  expect(behind(7000, { '0/0': 1, '0/1': 1 })).toBe(1000);
  expect(behind(7000, { '0/0': 1 })).toBe(2000);
  expect(behind(7000, {})).toBe(6900);
});

test('what was acknowledged after it began is not missed', () => {
  expect(acknowledged.behindMs({ beganAtMs: 4000, heads: { '0/0': 1 } })).toBe(0);
  expect(acknowledged.behindMs({ beganAtMs: 150, heads: { '0/0': 0 } })).toBe(0);
});
