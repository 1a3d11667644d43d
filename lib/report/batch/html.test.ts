import { expect, test } from 'vitest';
import type { Verdict } from '../../judge/verdict/verdict.ts';
import type { Batch, BatchCell } from '../../batch/batch.ts';
import { exampleBatch } from '../../../test/support/example-batch.ts';
import { exampleCell } from '../../../test/support/example-cell.ts';
import { renderBatchHtml, trendOf } from './html.ts';

import { exampleVerdict } from '../../../test/support/example-verdict.ts';

const batch = (cells: readonly BatchCell[], versions: Batch['versions'] = {}): Batch =>
  exampleBatch({
    versions,
    axes: [{ name: 'disk', labels: cells.map(({ label }) => label) }],
    cells: [...cells],
  });

const was = batch(
  [
    exampleCell('unfenced', 'lost', 9),
    exampleCell('fenced', 'safe', 0),
    exampleCell('old', 'safe', 0),
  ],
  {
    kubernetes: ['1.34.3'],
    mysql: ['9.7.4'],
  },
);
const is = batch(
  [
    exampleCell('unfenced', 'lost', 8),
    exampleCell('fenced', 'lost', 4),
    exampleCell('new', 'safe', 0),
  ],
  {
    kubernetes: ['1.34.4'],
    mysql: ['9.7.4'],
  },
);

const slower: Verdict = {
  ...exampleVerdict,
  phases: { ...exampleVerdict.phases, detached: 413.3 },
};
const verdictOf = (folder: string): Verdict | undefined =>
  folder === 'cells/new' ? undefined : folder === 'cells/fenced' ? slower : exampleVerdict;

test('the trend: what changed first, with its interval, and what else is not the same', () => {
  const trend = trendOf(was, is);
  expect(trend.rows.map(({ label, verdictChanged }) => [label, verdictChanged])).toEqual([
    ['fenced', true],
    ['unfenced', false],
  ]);
  const [first] = trend.rows;
  expect(first?.damage.by).toBeCloseTo(0.4);
  expect(first?.damage.low).toBeLessThan(first?.damage.high ?? 0);
  expect(first?.downtimeS).toBe(4);
  expect({ added: trend.added, gone: trend.gone }).toEqual({ added: ['new'], gone: ['old'] });
  expect(trend.conditions).toEqual([['kubernetes', '1.34.3', '1.34.4']]);
});

test('where a run has a verdict and no page, the batch says how to make one', async () => {
  const remakeOf = (folders: readonly string[]): string => `make ${folders.join(' ')}`;
  const of = { batch: is, verdictOf, baseline: undefined, remakeOf };
  const addressOf = (folder: string): string => `${folder}/verdict.json`;
  const bare = await renderBatchHtml({ ...of, addressOf });
  expect(bare).toContain('<a href="cells/fenced/verdict.json"');
  expect(bare).toContain('npx forcedetach report');
  // Of each cell that is not safe, and its square leads there.
  expect(bare.match(/<code>make [^<]*/g)).toEqual([
    '<code>make cells/unfenced',
    '<code>make cells/fenced',
  ]);
  expect(bare).toContain('<a href="#cell-unfenced">');
  expect(bare).toContain('<tr id="cell-unfenced"');
  const whole = await renderBatchHtml({ ...of, addressOf: (folder) => `${folder}/report.html` });
  expect(whole).not.toMatch(/npx forcedetach report|<code>make /);
  expect(whole).not.toContain('href="#cell-');
});

test('the page shows both, links to runs that have something to show, and escapes what it is told', async () => {
  const hostile = '<img src=x onerror=alert(1)>';
  const page = await renderBatchHtml({
    batch: { ...is, cells: is.cells.map((each) => ({ ...each, because: hostile })) },
    addressOf: (folder) => (folder === 'cells/fenced' ? 'cells/fenced/report.html' : undefined),
    remakeOf: () => '',
    verdictOf,
    baseline: { ...was, name: hostile },
  });
  expect(page).toContain('1 of 2 verdicts changed');
  expect(page).toContain('New: new. No longer there: old.');
  expect(page).toContain(
    '<th scope="row">kubernetes</th><td class="text">1.34.3</td><td class="text">1.34.4</td>',
  );
  expect(page).toContain('<a href="cells/fenced/report.html">fenced</a>');
  expect(page).not.toContain('<a href="cells/unfenced/report.html"');
  expect(page).not.toContain('<img src=x');
  expect(page).toContain('<a href="cells/fenced/report.html" title="made up">1: lost</a>');
  expect(page.match(/<script/g)).toHaveLength(1);
});
