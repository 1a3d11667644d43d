import { expect, test } from 'vitest';
import type { Verdict } from '../experiment/verdict.ts';
import type { Batch, BatchCell } from '../matrix/batch.ts';
import { exampleBatch } from '../matrix/example.ts';
import { wilson } from '../matrix/intervals.ts';
import { renderBatchHtml } from './batch-html.ts';
import { slowestPhases } from './batch-phases.ts';
import { trendOf, versionsOf } from './batch-trend.ts';
import { exampleVerdict } from './example.ts';

const cell = (label: string, verdict: BatchCell['verdict'], damaged: number): BatchCell => ({
  id: `cell-${label}`,
  label,
  place: { disk: label },
  verdict,
  expected: [verdict],
  expectedServing: 'open',
  because: 'made up',
  asExpected: true,
  verdicts: { safe: 0, exposed: 0, lost: 0, corrupt: 0, inconclusive: 0 },
  damaged: { count: damaged, of: 10, ...wilson(damaged, 10) },
  unsafe: { count: damaged, of: 10, ...wilson(damaged, 10) },
  silent: 0,
  median: { lost: damaged, acked: 1000, downtimeS: 400 + damaged, exposureS: 0, secondMountS: 400 },
  runs: [{ folder: `cells/${label}`, verdict, sentence: 'made up' }],
  discarded: 0,
});

const batch = (cells: readonly BatchCell[], versions: Batch['versions'] = {}): Batch =>
  exampleBatch({
    versions,
    axes: [{ name: 'disk', labels: cells.map(({ label }) => label) }],
    cells: [...cells],
  });

const was = batch(
  [cell('unfenced', 'lost', 9), cell('fenced', 'safe', 0), cell('old', 'safe', 0)],
  {
    kubernetes: ['1.34.3'],
    mysql: ['9.7.4'],
  },
);
const is = batch([cell('unfenced', 'lost', 8), cell('fenced', 'lost', 4), cell('new', 'safe', 0)], {
  kubernetes: ['1.34.4'],
  mysql: ['9.7.4'],
});

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

test('each step of the way back names its slowest run', () => {
  const detach = slowestPhases(is, verdictOf).find(({ name }) => name === 'detach');
  expect(detach).toMatchObject({ runs: 2, cell: 'fenced', folder: 'cells/fenced' });
  expect(detach?.slowestS).toBeCloseTo(360.7);
});

test('versions of all runs are kept, each value once', () => {
  expect(versionsOf(is, verdictOf)).toEqual({ kubernetes: ['made up'], mysql: ['made up'] });
});

test('the page shows both, links to runs that have a report, and escapes what it is told', async () => {
  const hostile = '<img src=x onerror=alert(1)>';
  const page = await renderBatchHtml({
    batch: { ...is, cells: is.cells.map((each) => ({ ...each, because: hostile })) },
    hasReport: (folder) => folder === 'cells/fenced',
    verdictOf,
    baseline: { ...was, name: hostile },
  });
  expect(page).toContain('1 of 2 verdicts changed');
  expect(page).toContain('New: new. No longer there: old.');
  expect(page).toContain('<p>Kubernetes: 1.34.3 → 1.34.4.</p>');
  expect(page).toContain('<a href="cells/fenced/report.html">fenced</a>');
  expect(page).not.toContain('<a href="cells/unfenced/report.html"');
  expect(page).not.toContain('<img src=x');
  expect(page).not.toContain('<script');
});
