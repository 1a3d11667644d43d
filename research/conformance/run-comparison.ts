/** One real run against so many runs of the model. */
import { compare, type Comparison } from './compare.ts';
import { countVerdicts, type RunComparison, type Words } from './judge-differences.ts';
import { predictRun, type ModelRun, type PredictedRun } from './predict.ts';
import { readRealRun, type RealRun } from './real-run.ts';

export interface CompareOptions {
  /** Runs of the model. */
  readonly runs: number;
  /** Seed of the model's runs; each real run has its own ones. */
  readonly seed: string;
  /** Plays one; default: here, one after the other. */
  readonly play?: (run: ModelRun) => Promise<PredictedRun>;
}

/** What a run says of times whose machine did not keep any. */
const nothing: Comparison = { phases: [], orders: [], milestones: [], pairs: 0 };

/** Throws EvidenceError without a history. */
export async function compareRun(folder: string, options: CompareOptions): Promise<RunComparison> {
  const real = readRealRun(folder);
  const { run, scenario, starved, load } = real;
  const predictions = await playAll(real, options);
  const { fault, remedy, disk } = scenario;
  const compared = starved
    ? nothing
    : compare(
        real.milestones,
        predictions.map(({ milestones }) => milestones),
      );
  const modelVerdicts = countVerdicts(predictions);
  const atItsPace =
    modelVerdicts[real.verdict] === undefined
      ? await playAtItsPace(real, predictions, options)
      : undefined;
  return {
    ...{
      run,
      scenario: [fault.kind, remedy.kind, disk.mode].join(', '),
      modelRuns: options.runs,
      starved,
      load,
    },
    ...{ realVerdict: real.verdict, modelVerdicts },
    ...(atItsPace === undefined ? {} : { atItsPace }),
    ...compared,
  };
}

function playAll(
  { run, scenario }: Pick<RealRun, 'run' | 'scenario'>,
  { runs, seed, play = predictRun }: CompareOptions,
): Promise<readonly PredictedRun[]> {
  const seeds = Array.from({ length: runs }, (_, index) => `${seed}-${run}-${index}`);
  return Promise.all(seeds.map((each) => play({ scenario, seed: each })));
}

/**
 * Where a late cut races with the successor, the word hangs on how long the hand-over took. So the
 * model plays the race again with the cut as long after the successor's access as it really came.
 * Undefined where there is no such race, or the model's hand-over took as long.
 */
async function playAtItsPace(
  real: RealRun,
  predictions: readonly PredictedRun[],
  options: CompareOptions,
): Promise<RunComparison['atItsPace']> {
  const { scenario, starved } = real;
  const handOverS = handOverOf(real);
  if (scenario.disk.mode !== 'ack-early' || starved || handOverS === undefined) return undefined;
  const model = predictions.map(handOverOf).filter((each) => each !== undefined);
  const usualS = model.toSorted((a, b) => a - b)[Math.floor(model.length / 2)];
  if (usualS === undefined || handOverS <= Math.max(...model)) return undefined;
  const cutAfterMs = Math.max(0, Math.round(scenario.disk.cutAfter - 1000 * (handOverS - usualS)));
  const played = await playAll(
    { ...real, scenario: { ...scenario, disk: { ...scenario.disk, cutAfter: cutAfterMs } } },
    options,
  );
  const words: Words = countVerdicts(played);
  return { handOverS, usualS, cutAfterMs, words };
}

/** From the disk's answer to the detach until the successor had access, s. */
function handOverOf({
  milestones,
  accessAtMs,
}: Pick<PredictedRun, 'milestones' | 'accessAtMs'>): number | undefined {
  const answeredAtMs = milestones.get('detach-answered');
  if (answeredAtMs === undefined || accessAtMs === undefined) return undefined;
  return (accessAtMs - answeredAtMs) / 1000;
}
