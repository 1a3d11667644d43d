/** docs/internals/two-kernels.md carries the tables that its raw results give, and its controls hold. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseResults } from '../../lib/two-kernels/result.ts';
import { comparison } from '../../lib/two-kernels/table.ts';

const root = join(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const results = parseResults(read('reports/two-kernels/results.jsonl'));

test('the tables are those of the raw results', () => {
  const [, tables] =
    /<!-- results -->\n\n(.*)\n\n<!-- end -->/s.exec(read('docs/internals/two-kernels.md')) ?? [];
  expect(tables).toBe(comparison(results));
});

test('on both hosts a crash takes nothing from stock settings, and something from trx_commit=2', () => {
  const of = (name: string) => results.filter((result) => result.case === name);
  const safe = of('crash').map(({ host, images }) => [host, images[0]?.safety]);
  expect(new Set(safe.map(([host]) => host))).toEqual(new Set(['loops', 'vms']));
  expect(safe.every(([, safety]) => safety === 'safe')).toBe(true);
  const lost = of('crash-trx2').map(
    ({ host, images }) => [host, images[0]?.victim.lost ?? 0] as const,
  );
  expect(new Set(lost.map(([host]) => host))).toEqual(new Set(['loops', 'vms']));
  expect(lost.every(([, count]) => count > 0)).toBe(true);
});
