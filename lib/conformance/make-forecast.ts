/** Makes a forecast of a matrix: each cell so many times on the model, the rule beside it. */
import { modelVersion } from '../cluster/sim/limits.ts';
import { harnessVersion } from '../images/harness-version.ts';
import type { Cell } from '../matrix/cells.ts';
import { withoutExpectation, type ForecastBody, type ForecastCell } from './forecast.ts';
import type { ModelRun, PredictedRun } from './predict.ts';
import { intervalsOf, quantitiesOf, statedInterval, type Quantities } from './figures.ts';
import { ruleOf } from './rule.ts';

export interface ForecastRequest {
  /** The matrix's file, as the forecast is to name it. */
  readonly matrix: string;
  readonly cells: readonly Cell[];
  readonly seed: string;
  /** Number of the model's runs for each cell. */
  readonly runs: number;
  readonly madeAt: Date;
  /** Quantities of earlier real runs with the same timers. */
  readonly earlier: readonly Quantities[];
  readonly play: (run: ModelRun) => Promise<PredictedRun>;
  readonly onCell: (cell: ForecastCell) => void;
}

export async function makeForecast(request: ForecastRequest): Promise<ForecastBody> {
  const { matrix, seed, runs, madeAt, earlier } = request;
  const cells: ForecastCell[] = [];
  for (const cell of request.cells) {
    const forecast = await forecastOf(cell, request);
    request.onCell(forecast);
    cells.push(forecast);
  }
  return {
    ...{ schemaVersion: 1, matrix, madeAt: madeAt.toISOString() },
    ...{ modelVersion, harness: harnessVersion(), seed, runs },
    earlier: { runs: earlier.length, intervals: pooledIntervals(earlier) },
    cells,
  };
}

async function forecastOf(
  { id, label, scenario }: Cell,
  { seed, runs, play }: ForecastRequest,
): Promise<ForecastCell> {
  const played = await Promise.all(
    Array.from({ length: runs }, (_, index) => play({ scenario, seed: `${seed}-${id}-${index}` })),
  );
  const shareOf = (is: (each: PredictedRun) => boolean): number => played.filter(is).length / runs;
  const words = [...new Set(played.map(({ verdict }) => verdict))].toSorted();
  return {
    ...{ id, label, scenario: withoutExpectation(scenario) },
    model: {
      words: Object.fromEntries(
        words.map((word) => [word, shareOf(({ verdict }) => verdict === word)]),
      ),
      intervals: intervalsOf(
        played.map(({ milestones, figures }) => quantitiesOf(milestones, figures)),
      ),
      secondMount: shareOf(({ figures }) => figures.secondMountS !== null),
      served: shareOf(({ figures }) => figures.served),
    },
    rule: ruleOf(scenario),
  };
}

/** Fewer values give no interval of nine in ten. */
const leastValues = 10;

/** Over runs of all kinds: a quantity needs not be in most of them, only in enough. */
function pooledIntervals(runs: readonly Quantities[]): ForecastBody['earlier']['intervals'] {
  const names = [...new Set(runs.flatMap((run) => [...run.keys()]))];
  return Object.fromEntries(
    names.flatMap((name) => {
      const values = runs.map((run) => run.get(name)).filter((value) => value !== undefined);
      return values.length < leastValues ? [] : [[name, statedInterval(values)] as const];
    }),
  );
}
