/** The section of docs/internals/conformance.md that says what a forecast was worth. */
import { markdownTable } from '../markdown-table.ts';
import { wilson } from '../intervals.ts';
import type { Forecast } from './forecast.ts';
import { phaseDefinitions, phaseKey } from './phases.ts';
import {
  forecasters,
  scoreIntervals,
  scoreWords,
  isInside,
  type IntervalScores,
  type QuantityScores,
  type ScoredRun,
} from './score-forecast.ts';

export interface Scored {
  readonly forecast: Forecast;
  /** The forecast's file, and the batch's folder. */
  readonly path: string;
  readonly batch: string;
  readonly runs: readonly ScoredRun[];
}

export const forecastPagePath = 'docs/internals/conformance.md';
const marks = /(<!-- forecast -->\n)[\s\S]*?(<!-- end forecast -->)/;

/** The page with its section made anew. */
export const withSection = (page: string, section: string): string =>
  page.replace(marks, (_, begin: string, end: string) => `${begin}${section}\n${end}`);

export function sectionOf(scored: Scored): string {
  const { forecast, path, batch, runs } = scored;
  const { sha256, madeAt, modelVersion } = forecast;
  const about =
    `The forecast is \`${path}\` (SHA-256 \`${sha256.slice(0, 12)}…\`, made ${madeAt.slice(0, 16)}Z, ` +
    `${forecast.runs} runs of model ${modelVersion} for each cell), the runs are \`${batch}\`.`;
  const words = scoreWords(runs);
  const quantities = scoreIntervals(runs);
  return [about, runsTable(runs), wordsTable(words), intervalsText(quantities)].join('\n\n');
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;

const runsTable = (runs: readonly ScoredRun[]): string =>
  markdownTable(
    ['Cell', 'model', 'rule', 'came', 'within', 'timers late, processor waited for'],
    runs.map(({ cell, run, quantities, missing }) => {
      const said = Object.entries(cell.model.words).map(([word, share]) =>
        share === 1 ? word : `${word} ${percent(share)}`,
      );
      const inside = quantities.filter(({ model, value }) => isInside(model, value)).length;
      const absent = missing.length === 0 ? '' : `; ${missing.length} did not come`;
      const { worstLagMs, cpuPressure } = run.load;
      return [
        cell.label.replace(/^case /, ''),
        said.join(', '),
        cell.rule.damage ? 'damage' : 'none',
        run.verdict === 'inconclusive'
          ? `inconclusive: ${run.incompleteBecause[0] ?? ''}`
          : run.verdict,
        run.starved
          ? 'its machine did not keep time'
          : `${inside} of ${quantities.length}${absent}`,
        `${Math.round(worstLagMs)} ms, ${Math.round(cpuPressure)} %`,
      ];
    }),
  );

function wordsTable({ runs, right, brier, ofWords }: ReturnType<typeof scoreWords>): string {
  if (runs === 0) return 'No run came to a verdict.';
  const rows = forecasters.map((who) => [who, `${right[who]} of ${runs}`, brier[who].toFixed(3)]);
  return (
    `Damage or none, ${runs} runs (Brier: 0 is sure and right, 1 sure and wrong; ¼ says nothing):\n\n` +
    `${markdownTable(['Forecaster', 'right', 'Brier'], rows)}\n\n` +
    `Over all five words the model's Brier score is ${ofWords.toFixed(3)} (0 to 2).`
  );
}

const isPhase = ({ name }: QuantityScores): boolean =>
  phaseDefinitions.some((definition) => phaseKey(definition) === name);

function intervalsText(quantities: readonly QuantityScores[]): string {
  if (quantities.length === 0) return 'Nothing was timed.';
  const phases = quantities.filter(isPhase);
  const rows = [...phases, ...quantities.filter((each) => !isPhase(each))].map(
    ({ name, model, earlier }) => [
      name,
      String(model.count),
      ...[model, earlier].flatMap(({ inside, width, winkler }) => [
        String(inside),
        digits(width),
        digits(winkler),
      ]),
    ],
  );
  const head = ['Quantity', 'runs', 'in model', 'width', 'score', 'in earlier', 'width', 'score'];
  return `${totals(phases)}\n\n${markdownTable(head, rows)}`;
}

/** Phases alone: they are all in seconds, and do not contain each other. */
function totals(phases: readonly QuantityScores[]): string {
  const [model, earlier] = (['model', 'earlier'] as const).map((of) => sumOf(phases, of));
  if (model === undefined || earlier === undefined) return '';
  return (
    `Intervals of nine in ten, phases, against *earlier*: what any phase took in the earlier real runs ` +
    `with these timers, whatever the scenario. The score is Winkler's, in seconds: an interval's width, and ` +
    `twenty times what the value lies beside it. The model has ${shareText(model)} at a mean width of ` +
    `${digits(model.width)} s, score ${digits(model.winkler)}; *earlier* ${shareText(earlier)} at ` +
    `${digits(earlier.width)} s, score ${digits(earlier.winkler)}.`
  );
}

function shareText({ inside, count }: IntervalScores): string {
  const { low, high } = wilson(inside, count);
  return `${inside} of ${count} within (${percent(inside / count)}; 95 %: ${percent(low)} to ${percent(high)})`;
}

function sumOf(all: readonly QuantityScores[], of: 'model' | 'earlier'): IntervalScores {
  const count = all.reduce((sum, each) => sum + each[of].count, 0);
  const weighted = (value: (scores: IntervalScores) => number): number =>
    all.reduce((sum, each) => sum + value(each[of]) * each[of].count, 0) / count;
  return {
    count,
    inside: all.reduce((sum, each) => sum + each[of].inside, 0),
    width: weighted(({ width }) => width),
    winkler: weighted(({ winkler }) => winkler),
  };
}

const digits = (value: number): string => value.toFixed(value < 10 ? 2 : 1);
