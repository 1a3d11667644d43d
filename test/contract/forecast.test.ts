/** A forecast is sealed, comes before its runs, is of their scenarios, and is scored on them. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { simBackend } from '../../lib/cluster/sim/backend.ts';
import { readForecast, sealed, type ForecastBody } from '../../lib/conformance/forecast.ts';
import { trialsOf } from '../../lib/conformance/forecast-batch.ts';
import { sectionOf } from '../../lib/conformance/forecast-page.ts';
import { makeForecast } from '../../lib/conformance/make-forecast.ts';
import { predictRun } from '../../lib/conformance/predict.ts';
import { scoreRun, scoreWords } from '../../lib/conformance/score-forecast.ts';
import { runScenario } from '../../lib/experiment/run/run.ts';
import { cellsOf } from '../../lib/matrix/cells.ts';
import { parseMatrix } from '../../lib/matrix/matrix-schema.ts';
import { smallMatrix } from '../support/small-matrix.ts';

const folder = mkdtempSync(join(tmpdir(), 'forcedetach-forecast-'));
afterAll(() => rmSync(folder, { recursive: true }));
const path = join(folder, 'forecast.json');
const cells = cellsOf(parseMatrix(smallMatrix, 'small'));
const madeAt = new Date('2026-11-24T10:00:00Z');
const begunAt = '2026-11-24T11:00:00.000Z';
let body: ForecastBody;

/** As a batch leaves it, but that the model played its runs; its clock is virtual. A model’s once said so by its name alone. */
async function playBatch(isModel: boolean): Promise<string> {
  const batch = mkdtempSync(join(folder, 'batch-'));
  const by = isModel ? { backend: 'sim' } : { backend: 'vm', isModel };
  const about = { name: 'small', seed: 's', ...by, fingerprint: 'f', startedAt: begunAt };
  const lines: unknown[] = [{ type: 'batch', schemaVersion: 1, ...about }];
  for (const { id, scenario } of cells) {
    const run = join('cells', `${id}.1`);
    mkdirSync(join(batch, run), { recursive: true });
    const verdict = await runScenario({
      ...{ scenario, seed: 'real', runId: 'real', folder: join(batch, run), replay: 'none' },
      ...{ backend: simBackend(), signal: new AbortController().signal },
      onProgress: () => undefined,
      onPhase: () => undefined,
    });
    const { safety, asExpected, basis, noticed, acked, lost, sentence } = verdict;
    lines.push({
      ...{ type: 'attempt', trial: `${id}.1`, attempt: 1, event: id, slot: 'a', alone: false },
      ...{ folder: run, startedAt: begunAt, durationMs: 1 },
      outcome: {
        ...{ verdict: verdict.verdict, safety, asExpected, basis, noticed, acked, lost, sentence },
        ...{ downtimeMs: null, exposureMs: 0, secondMountS: null, incompleteBecause: [] },
        ...{ starved: false, worstTimerLagMs: 0, timerDistortion: 0 },
      },
    });
  }
  writeFileSync(
    join(batch, 'results.jsonl'),
    lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
  );
  return batch;
}

beforeAll(async () => {
  body = await makeForecast({
    ...{ matrix: 'small.yaml', cells, seed: 'seed', runs: 40, madeAt, earlier: [] },
    play: predictRun,
    onCell: () => undefined,
  });
  writeFileSync(path, sealed(body));
});

test('a forecast that was changed is refused, whatever was changed', () => {
  expect(readForecast(path)).toMatchObject({ matrix: 'small.yaml', runs: 40 });
  const text = readFileSync(path, 'utf8');
  const altered = join(folder, 'altered.json');
  for (const [from, to] of [
    ['"damage": true', '"damage": false'],
    ['T10:00:00', 'T09:00:00'],
    ['"seed": "seed"', '"seed": "another"'],
  ] as const) {
    expect(text).toContain(from);
    writeFileSync(altered, text.replace(from, to));
    expect(() => readForecast(altered)).toThrow(/its hash differs/);
  }
  writeFileSync(altered, '{}');
  expect(() => readForecast(altered)).toThrow(/is no forecast/);
});

test('the model’s own runs are scored as what they are: within, and sure', async () => {
  const forecast = readForecast(path);
  const batch = await playBatch(false);
  const runs = trialsOf(forecast, batch, new Date('2026-11-24T10:30:00Z')).map((trial) =>
    scoreRun(forecast, trial),
  );
  expect(runs.map(({ cell, damage }) => [cell.label, damage])).toEqual([
    ['disk unfenced', true],
    ['disk fenced', false],
  ]);
  const { right, brier } = scoreWords(runs);
  expect(right).toEqual({ model: 2, rule: 2, 'rule told': 2, 'rule with its record': 2 });
  expect([brier.model, brier.rule, brier['rule told']]).toEqual([0, 0, 0]);
  expect(brier['rule with its record']).toBeCloseTo((9 / 84) ** 2, 5);
  const values = runs.flatMap(({ quantities }) => quantities);
  expect(values.length).toBeGreaterThan(50);
  const inside = values.filter(({ model, value }) => value >= model.from && value <= model.to);
  expect(inside.length / values.length).toBeGreaterThan(0.8);
  expect(sectionOf({ forecast, path, batch, runs })).toContain(
    '| disk fenced | safe | none | safe |',
  );
});

test('a forecast is refused that came after its runs, or that git got after them', async () => {
  const batch = await playBatch(false);
  const forecast = readForecast(path);
  expect(() => trialsOf(forecast, batch, new Date('2026-11-24T11:00:01Z'))).toThrow(
    /committed 2026/,
  );
  const late = { ...forecast, madeAt: '2026-11-24T11:00:00.000Z' };
  expect(() => trialsOf(late, batch, undefined)).toThrow(/made 2026-11-24T11:00/);
  expect(trialsOf(forecast, batch, undefined)).toHaveLength(2);
});

test('runs of the model, and of another scenario, are no runs that were foretold', async () => {
  const forecast = readForecast(path);
  await expect(
    playBatch(true).then((batch) => trialsOf(forecast, batch, undefined)),
  ).rejects.toThrow(/the model's own/);
  const [trial] = trialsOf(forecast, await playBatch(false), undefined);
  if (trial === undefined) throw new Error('the batch has no run');
  const other = { ...trial, run: { ...trial.run, scenario: { ...trial.run.scenario, rate: 11 } } };
  expect(() => scoreRun(forecast, other)).toThrow(/no run of what was foretold/);
  expect(() => scoreRun(forecast, { ...trial, cell: 'unknown' })).toThrow(/no run of what/);
});

test('of a run whose machine did not keep time only the word counts', async () => {
  const forecast = readForecast(path);
  const [trial] = trialsOf(forecast, await playBatch(false), undefined);
  if (trial === undefined) throw new Error('the batch has no run');
  const starved = { ...trial, run: { ...trial.run, starved: true } };
  expect(scoreRun(forecast, starved)).toMatchObject({ quantities: [], missing: [], damage: true });
  const nothing = { ...trial, run: { ...trial.run, verdict: 'inconclusive' as const } };
  expect(scoreWords([scoreRun(forecast, nothing)]).runs).toBe(0);
});
