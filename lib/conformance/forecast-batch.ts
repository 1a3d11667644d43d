/** The runs of a batch that a forecast was made of, and whether the forecast was there before them. */
import { join } from 'node:path';
import { EvidenceError, UsageError } from '../errors.ts';
import { readResults, type Attempt, type Results } from '../matrix/results.ts';
import type { Forecast } from './forecast.ts';
import { readRealRun } from './real-run.ts';
import type { CellRun } from './score-forecast.ts';

/**
 * The last attempt of each cell; controls and reruns are none. Throws UsageError `NO_BATCH`,
 * EvidenceError `FORECAST_OF_MODEL` or `FORECAST_TOO_LATE`.
 */
export function trialsOf(
  forecast: Forecast,
  folder: string,
  committedAt: Date | undefined,
): readonly CellRun[] {
  const results = readResults(folder);
  if (results === undefined) {
    throw new UsageError('NO_BATCH', `${folder} holds no batch`, {
      hint: 'give the folder that holds results.jsonl',
    });
  }
  refuseModel(results, folder);
  refuseLate(forecast, results, committedAt);
  return forecast.cells.flatMap(({ id }) => {
    const attempts = results.attempts.filter((each) => isTrialOf(each, id));
    const last = attempts.findLast(({ outcome }) => outcome !== undefined);
    return last === undefined ? [] : [{ cell: id, run: readRealRun(join(folder, last.folder)) }];
  });
}

const isTrialOf = ({ trial }: Attempt, cell: string): boolean =>
  trial.startsWith(`${cell}.`) && /^\d+$/.test(trial.slice(cell.length + 1));

function refuseModel({ head }: Results, folder: string): void {
  if (!head.isModel) return;
  throw new EvidenceError('FORECAST_OF_MODEL', `the runs of ${folder} are the model's own`, {
    hint: 'a forecast is scored on real runs: --cluster kind',
  });
}

/** `committedAt`: when git got the forecast as it is now; undefined where no history can tell. */
function refuseLate(
  { madeAt }: Forecast,
  { head, attempts }: Results,
  committedAt: Date | undefined,
): void {
  const begun = [head, ...attempts].map(({ startedAt }) => Date.parse(startedAt));
  const firstAt = new Date(Math.min(...begun));
  const says: readonly (readonly [string, Date | undefined])[] = [
    ['made', new Date(madeAt)],
    ['committed', committedAt],
  ];
  for (const [what, at] of says) {
    if (at === undefined || at < firstAt) continue;
    const when = `${what} ${at.toISOString()}, and the first run began ${firstAt.toISOString()}`;
    throw new EvidenceError('FORECAST_TOO_LATE', `the forecast was ${when}`, {
      hint: 'commit a forecast before its matrix runs, and leave it as it is',
    });
  }
}
