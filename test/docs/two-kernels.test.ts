/** The controls of the two-kernel lab hold in the store. */
import { expect, test } from 'vitest';
import { linesOf } from '../../lib/measurements/store.ts';
import { resultSchema } from '../../research/two-kernels/result.ts';

const results = linesOf(resultSchema);

test('on both hosts a crash takes nothing from stock settings, and something from trx_commit=2', () => {
  const of = (name: string) => results.filter(({ scenario }) => scenario.case === name);
  const safe = of('crash').map(
    ({ scenario, outcome }) => [scenario.host, outcome.images[0]?.safety] as const,
  );
  expect(new Set(safe.map(([host]) => host))).toEqual(new Set(['loops', 'vms']));
  expect(safe.every(([, safety]) => safety === 'safe')).toBe(true);
  const lost = of('crash-trx2').map(
    ({ scenario, outcome }) => [scenario.host, outcome.images[0]?.victim.lost ?? 0] as const,
  );
  expect(new Set(lost.map(([host]) => host))).toEqual(new Set(['loops', 'vms']));
  expect(lost.every(([, count]) => count > 0)).toBe(true);
});
