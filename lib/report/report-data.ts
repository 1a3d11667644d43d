/** Verdict and history to everything the page shows. Pure. */
import type { LicenceStep, Verdict } from '../experiment/verdict/verdict.ts';
import { observed } from '../history/observations.ts';
import type { History } from '../history/reader.ts';
import { tellStory, type Story } from '../timeline/story.ts';
import { Lanes } from './lanes.ts';
import { operationColumns } from './operation-columns.ts';
import { proofOf, rawRows } from './raw-rows.ts';
import { recoverySteps, exposureBand, firstView, momentsOf } from './timeline-facts.ts';
import type { LicenceRow, LossRow, RawRow, ReportData } from './types.ts';
import { epochNames } from './loss-words.ts';
import { runAdvice, runScreen } from './run-screen.ts';
import { notTested } from './wording.ts';
import { writtenSeries } from './written.ts';

/** What a report is made from, besides the verdict. */
export type ReportSource = Pick<History, 'smallRecords' | 'ops'>;

export function reportData(verdict: Verdict, source: ReportSource): ReportData {
  const small = [...source.smallRecords()];
  const lanes = new Lanes();
  for (const record of small) lanes.see(record);
  const story = tellStory(small);
  const startMs = small[0]?.t ?? 0;
  const endMs = story.endAtMs;
  const zeroMs = story.faultAtMs ?? startMs;
  const { rows, more } = rawRows(small, zeroMs);
  const fromS = Math.floor((Math.max(startMs, databaseAtMs(story) - leadMs) - zeroMs) / 1000);
  const toS = Math.ceil((endMs - zeroMs) / 1000);
  const exposure = exposureBand(verdict, story, zeroMs);
  return {
    verdict,
    first: runScreen(verdict),
    loss: lossRows(verdict),
    licence: licenceRows(verdict.licence, rows),
    licenceGaps: verdict.licenceGaps,
    laterLicences: verdict.laterLicences.map(({ from, to, atS, overlaps, steps, gaps }) => ({
      title: `${atS.toFixed(1)} s: from ${from}${overlaps ? ', which still had it,' : ''} to ${to}`,
      rows: licenceRows(steps, rows),
      gaps,
    })),
    recovery: recoverySteps(verdict),
    ...runAdvice(verdict),
    notTested: notTested(verdict),
    modelLimits: modelLimits(story),
    timeline: {
      fromS,
      toS,
      first: firstView(verdict, exposure, [fromS, toS]),
      lanes: lanes.result(zeroMs, endMs),
      exposure,
      moments: momentsOf(story, verdict),
      written: writtenSeries(story.observations, zeroMs),
    },
    raw: rows,
    rawMore: more,
    operations: operationColumns(source.ops(), zeroMs, endMs),
  };
}

/** The axis begins so long before there is a database. */
const leadMs = 5000;

/** Building images and a cluster may take an hour, of which there is nothing to see. */
function databaseAtMs({ observations, records, faultAtMs }: Story): number {
  const mounted = observations.find(({ name }) => name === observed.mounted)?.t;
  const steady = records.find((record) => record.type === 'phase' && record.phase === 'steady')?.t;
  return Math.min(mounted ?? Infinity, steady ?? Infinity, faultAtMs ?? 0);
}

const licenceRows = (steps: readonly LicenceStep[], rows: readonly RawRow[]): LicenceRow[] =>
  steps.map((each) => {
    const { atS, step, source, evidence, by } = each;
    return { atS, step, source, evidence, by, rowId: proofOf(rows, each) };
  });

/** What the model recorded that it does not know; nothing where the run was real. */
function modelLimits({ observations }: Story): string[] {
  const seen = observations.find(({ source, name }) => source === 'model' && name === 'limits');
  const limits = seen?.data['limits'];
  return Array.isArray(limits) ? limits.map(String) : [];
}

function lossRows({ loss }: Verdict): LossRow[] {
  if (loss === null) return [];
  return (Object.keys(epochNames) as (keyof typeof epochNames)[]).map((epoch) => ({
    epoch: epochNames[epoch],
    ...loss[epoch],
  }));
}
