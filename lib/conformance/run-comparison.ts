/** One real run against so many runs of the model. */
import { basename } from 'node:path';
import { assembleVerdict } from '../experiment/assemble.ts';
import { isStarved } from '../experiment/machine-time.ts';
import { openHistory } from '../history/reader.ts';
import { tellStory } from '../timeline/story.ts';
import { compare, type Comparison } from './compare.ts';
import { countVerdicts, type RunComparison } from './judge.ts';
import { predict, type ModelRun, type Prediction } from './predict.ts';
import { stepsOf } from './steps.ts';

export interface CompareOptions {
  /** Runs of the model. */
  readonly runs: number;
  /** Of the model's runs; each real run has its own ones. */
  readonly seed: string;
  /** After each run of the model. */
  readonly onRun?: (done: number) => void;
  /** Plays one; default: here, one after the other. */
  readonly play?: (run: ModelRun) => Promise<Prediction>;
}

/** What a run says of times whose machine did not keep any. */
const nothing: Comparison = { phases: [], orders: [], steps: [], pairs: 0 };

/** Throws EvidenceError without a history. */
export async function compareRun(folder: string, options: CompareOptions): Promise<RunComparison> {
  const { runs, seed, onRun, play = predict } = options;
  const history = openHistory(folder);
  const { scenario, ...story } = tellStory([...history.smallRecords()]);
  const run = basename(folder);
  let done = 0;
  const predictions = await Promise.all(
    Array.from({ length: runs }, async (_, index) => {
      const prediction = await play({ scenario, seed: `${seed}-${run}-${index}` });
      onRun?.(++done);
      return prediction;
    }),
  );
  const { fault, remedy, disk } = scenario;
  const { verdict, incompleteBecause } = assembleVerdict(history);
  const starved = isStarved(incompleteBecause);
  const compared = starved
    ? nothing
    : compare(
        stepsOf({ ...story, scenario }),
        predictions.map(({ steps }) => steps),
      );
  return {
    ...{ run, scenario: [fault, remedy, disk].join(', '), modelRuns: runs, starved },
    realVerdict: verdict,
    modelVerdicts: countVerdicts(predictions),
    ...compared,
  };
}
