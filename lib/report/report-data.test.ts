import { expect, test } from 'vitest';
import type { Verdict } from '../judge/verdict/verdict.ts';
import { exampleHistory } from '../../test/support/example-history.ts';
import { exampleVerdict } from '../../test/support/example-verdict.ts';
import { exampleSource, sourceOf } from '../../test/support/example-source.ts';
import { reportData } from './report-data.ts';
import { mysql } from '../mysql/database.ts';

const data = reportData(exampleVerdict, exampleSource, mysql);

test('each licence step is tied to the raw record that proves it', () => {
  for (const { rowId, source } of data.licence) {
    const row = data.raw.find(({ id }) => id === rowId);
    expect(row?.source).toBe(source);
  }
});

test('a history that ends anywhere still makes a report', () => {
  const whole = exampleHistory();
  const inconclusive: Verdict = {
    ...exampleVerdict,
    verdict: 'inconclusive',
    complete: false,
    incompleteBecause: ['the history is cut'],
  };
  for (let length = 1; length < whole.length; length += 7) {
    const { timeline } = reportData(inconclusive, sourceOf(whole.slice(0, length)), mysql);
    expect(timeline.toS).toBeGreaterThanOrEqual(timeline.fromS);
  }
});
