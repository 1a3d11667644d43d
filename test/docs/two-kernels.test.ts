/** docs/internals/two-kernels.md carries the tables that its results give, and its controls hold; `vitest -u` writes it. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { linesOf } from '../../lib/measurements/store.ts';
import { resultSchema } from '../../research/two-kernels/result.ts';
import { comparison } from '../../research/two-kernels/table.ts';
import { filled, read, root } from './pages.ts';

const page = 'docs/internals/two-kernels.md';
const results = linesOf(resultSchema);

test('the tables are those of the results', async () => {
  const whole = filled(read(page), { results: `\n\n${comparison(results)}\n\n` });
  await expect(whole).toMatchFileSnapshot(join(root, page));
});

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
