/** docs/internals/conformance.md says what the forecast was worth; `experiments/forecast.mjs score … --write` does. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scoredSection } from '../../lib/cli/commands/forecast.ts';
import { withoutExpectation, readForecast } from '../../lib/conformance/forecast.ts';
import { forecastPagePath, withSection } from '../../lib/conformance/forecast-page.ts';
import { ruleOf } from '../../lib/conformance/rule.ts';
import { cellsOf } from '../../lib/matrix/cells.ts';
import { readMatrix } from '../../lib/matrix/matrix-schema.ts';

const path = 'experiments/predictions/untuned.json';
const batch = 'reports/matrix/untuned';
const forecast = readForecast(path);

test('the committed forecast is whole, and of the matrix as it stands', () => {
  const cells = cellsOf(readMatrix(forecast.matrix));
  expect(forecast.cells.map(({ id }) => id)).toEqual(cells.map(({ id }) => id));
  for (const [index, { scenario }] of cells.entries()) {
    // How the question is put may change after it was foretold, as where runs are scored.
    const { question: _, ...asked } = forecast.cells[index]?.scenario ?? { rate: 'absent' };
    expect(withoutExpectation(scenario)).toMatchObject(asked);
  }
});

test('in at least twelve of its cells the model and the rule say different things', () => {
  const disagree = forecast.cells.filter(({ model, rule }) => {
    const damage = (model.words.lost ?? 0) + (model.words.corrupt ?? 0) > 0.5;
    return damage !== rule.damage;
  });
  expect(disagree.length).toBeGreaterThanOrEqual(12);
});

test('what it has of the rule is what the rule says', () => {
  for (const [index, { scenario }] of cellsOf(readMatrix(forecast.matrix)).entries()) {
    expect(forecast.cells[index]?.rule).toEqual(ruleOf(scenario));
  }
});

test('the page has the score of the committed runs', () => {
  const page = readFileSync(forecastPagePath, 'utf8');
  const section = existsSync(join(batch, 'results.jsonl'))
    ? scoredSection(path, batch)
    : 'The runs have not been made yet.';
  expect(page).toBe(withSection(page, section));
});
