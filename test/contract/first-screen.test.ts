/** Headline, tiles, chart and causes of a page say the same: each is held to the verdict's own facts. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { assembleVerdict } from '../../lib/experiment/verdict/assemble.ts';
import type { ScenarioInput } from '../../lib/experiment/scenario.ts';
import { openHistory } from '../../lib/history/reader.ts';
import { renderHtml } from '../../lib/report/html.ts';
import { secondsShown } from '../../lib/report/html-parts.ts';
import { reportData } from '../../lib/report/report-data.ts';
import { committedNames } from '../support/committed.ts';
import { modelScenario, runOnModel, shortTimers } from '../support/model-run.ts';

/** Text of the tile with that name; undefined where there is none. */
function tile(page: string, name: string): string | undefined {
  const found = new RegExp(`<dt>${name}</dt><dd[^>]*>([^<]*)<`).exec(page);
  return found?.[1]?.trim();
}

/** What the four of them say, each by its own words, of two facts. */
async function toldBy(folder: string) {
  const verdict = assembleVerdict(openHistory(folder));
  const data = reportData(verdict, openHistory(folder));
  const page = await renderHtml(data);
  const { timeline, licence } = data;
  const { phases, exposure, sentence, horizonS } = verdict;
  const mountedBeforeHeal = timeline.lanes
    .filter(({ role, group }) => role !== 'victim' && group === 'mount')
    .flatMap(({ bars }) => bars)
    .some(({ fromS, label }) => fromS >= 0 && fromS <= horizonS && label === 'mounted');
  return {
    facts: { secondMount: phases.secondMount !== null, overlap: exposure.ms > 0 },
    headline: {
      secondMount: /another node mounted the volume/i.test(sentence),
      overlap: /could still write|two nodes could write/i.test(sentence),
    },
    tiles: {
      // Else it says none, or that it was refused.
      secondMount: /^[\d.]+ s$/.test(tile(page, 'Second mount') ?? ''),
      overlap: tile(page, 'Two could write for') !== secondsShown(0),
    },
    chart: {
      secondMount: timeline.moments.some(({ label }) => label === 'second mount'),
      overlap: timeline.exposure !== null,
    },
    lanes: { secondMount: mountedBeforeHeal },
    // Without a mount there may be causes, of an attachment that was refused.
    causes: { secondMount: licence.some(({ step }) => /mounted|second/i.test(step)) },
    hasVictimsServer: timeline.lanes.some(
      ({ role, group, label }) => role === 'victim' && group === 'mysqld' && label === 'mysqld',
    ),
  };
}

async function expectAgreement(folder: string): Promise<void> {
  const { facts, headline, tiles, chart, lanes, causes, hasVictimsServer } = await toldBy(folder);
  expect({ headline, tiles, chart }).toEqual({ headline: facts, tiles: facts, chart: facts });
  expect(lanes.secondMount).toBe(facts.secondMount);
  expect(causes.secondMount).toBe(facts.secondMount);
  expect(hasVictimsServer).toBe(true);
}

describe('samples', () => {
  const folder = 'reports/samples';
  test.each(committedNames(folder))('%s', async (name) => expectAgreement(join(folder, name)));
});

describe('the model', () => {
  const cases: readonly (readonly [string, Partial<ScenarioInput>])[] = [
    ['an unfenced disk', { remedy: 'force-delete', disk: 'unfenced' }],
    ['a fenced disk', { remedy: 'force-delete', disk: 'fenced' }],
    ['nobody acts', { remedy: 'none' }],
    ['a crash', { fault: 'node-crash', remedy: 'force-delete' }],
    ['a refused mount', { remedy: 'force-delete', disk: 'unfenced', filesystem: 'ext4-mmp' }],
  ];
  test.each(cases)('%s', async (_, fields) => {
    const { folder } = await runOnModel(modelScenario({ ...shortTimers, ...fields }));
    await expectAgreement(folder);
  });
});
