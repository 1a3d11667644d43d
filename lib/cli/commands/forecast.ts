/** `experiments/forecast.mjs`: what the model and the rule say before the runs, and its score after. */
import { execFileSync } from 'node:child_process';
import type { Command } from 'commander';
import { readForecast, sealed, type ForecastCell } from '../../conformance/forecast.ts';
import { trialsOf } from '../../conformance/forecast-batch.ts';
import { forecastPagePath, sectionOf, withSection } from '../../conformance/forecast-page.ts';
import { makeForecast } from '../../conformance/make-forecast.ts';
import { predictionPool } from '../../conformance/predict.ts';
import { quantitiesOf, type Quantities } from '../../conformance/figures.ts';
import { readRealRun } from '../../conformance/real-run.ts';
import { scoreRun } from '../../conformance/score-forecast.ts';
import { exitCode, EvidenceError, type ExitCode } from '../../errors.ts';
import { stockTimersMs, type Scenario } from '../../experiment/scenario.ts';
import { theModel } from '../../library/backend.ts';
import { refuseUnfit } from '../../library/refusals.ts';
import { cellsOf } from '../../matrix/cells.ts';
import { readText } from '../../input-file.ts';
import { readMatrix } from '../../matrix/matrix-schema.ts';
import { writeOutput } from '../../output-file.ts';
import { commandLine, parseArguments, runCommand, say, tell } from '../command.ts';
import { runsBelow, type PlayFlags } from './conformance.ts';
import { nonEmpty, numberWithin, seedText } from '../flags/flag-values.ts';

interface MakeFlags extends PlayFlags {
  readonly out: string;
  readonly earlier: readonly string[];
}

interface ScoreFlags {
  readonly write?: boolean;
}

type Act = () => Promise<ExitCode> | ExitCode;

/** `ask` is told what its subcommand is to do. */
export function forecastCommand(ask: (act: Act) => void): Command {
  const command = commandLine('npx zx experiments/forecast.mjs', [
    ['before the runs', 'make experiments/matrices/untuned.yaml --out forecast.json'],
    ['after them', 'score experiments/predictions/untuned.json reports/untuned'],
  ]);
  command
    .command('make')
    .description('Plays each cell of a matrix on the model and writes what it comes to, sealed.')
    .argument('<matrix>', 'a matrix file')
    .requiredOption('--out <file>', 'the forecast; commit it before the matrix runs', nonEmpty)
    .option(
      '--runs <n>',
      'runs of the model for each cell, from 20 on',
      numberWithin(20, 9999),
      200,
    )
    .option('--threads <n>', 'worker threads, 1 to 8', numberWithin(1, 8), 2)
    .option('--seed <text>', 'of the runs of the model', seedText, 'forecast')
    .option('--earlier <folders...>', 'real runs made before, for comparison', [])
    .action((matrix: string, flags: MakeFlags) => ask(() => make(matrix, flags)));
  command
    .command('score')
    .description('Holds a committed forecast to the runs of its matrix.')
    .argument('<forecast>', 'a file that `make` wrote')
    .argument('<batch>', 'the folder of the matrix’s batch')
    .option('--write', `puts it into ${forecastPagePath}`)
    .action((path: string, batch: string, flags: ScoreFlags) =>
      ask(() => score(path, batch, flags)),
    );
  return command;
}

/** Never throws. */
export const forecast = (): Promise<void> =>
  runCommand('forecast', async (args) => {
    let asked: Act = () => exitCode.expected;
    parseArguments(
      forecastCommand((act) => (asked = act)),
      args,
    );
    return asked();
  });

async function make(matrix: string, flags: MakeFlags): Promise<ExitCode> {
  const { out, runs, threads, seed } = flags;
  const cells = cellsOf(readMatrix(matrix, say));
  for (const { scenario } of cells) refuseUnfit(scenario, theModel('a forecast'));
  const earlier = earlierRuns(flags.earlier, cells[0]?.scenario);
  await using pool = predictionPool(threads);
  const body = await makeForecast({
    ...{ matrix, cells, seed, runs, earlier, madeAt: new Date() },
    play: (run) => pool.run(run),
    onCell: (cell) => tell(describeCell(cell)),
  });
  writeOutput(out, sealed(body));
  tell(`${out}: ${body.cells.length} cells; commit it before they run`);
  return exitCode.expected;
}

function score(path: string, batch: string, { write }: ScoreFlags): ExitCode {
  const section = scoredSection(path, batch);
  tell(section);
  if (write === true)
    writeOutput(forecastPagePath, withSection(readText(forecastPagePath), section));
  return exitCode.expected;
}

/** Throws EvidenceError where the forecast was altered or came too late, or the runs are not its own. */
export function scoredSection(path: string, batch: string): string {
  const forecast = readForecast(path);
  const committed = committedAt(path);
  if (committed === undefined) {
    say(`no history of git tells when ${path} was committed: not checked`);
  }
  const runs = trialsOf(forecast, batch, committed).map((trial) => scoreRun(forecast, trial));
  return sectionOf({ forecast, path, batch, runs });
}

/** Quantities of the real runs that have the timers of the matrix. */
function earlierRuns(folders: readonly string[], like: Scenario | undefined): Quantities[] {
  if (folders.length === 0 || like === undefined) return [];
  const timers = Object.keys(stockTimersMs) as (keyof typeof stockTimersMs)[];
  return runsBelow(folders)
    .map(readRealRun)
    .filter(({ scenario }) => timers.every((timer) => scenario[timer] === like[timer]))
    .filter(({ starved }) => !starved)
    .map(({ milestones, figures }) => quantitiesOf(milestones, figures));
}

function describeCell({ id, model, rule }: ForecastCell): string {
  const words = Object.entries(model.words).map(([word, share]) => `${word} ${share.toFixed(2)}`);
  return `${id.padEnd(36)} ${words.join(', ').padEnd(40)} rule: ${rule.damage ? 'damage' : 'none'}`;
}

/**
 * The author's date of the last commit that changed it: a rebase leaves that as it is. Undefined where
 * the history does not go back so far, or no git is there. Throws EvidenceError `FORECAST_UNCOMMITTED`.
 */
export function committedAt(path: string): Date | undefined {
  const shallow = git('rev-parse', '--is-shallow-repository');
  if (shallow === undefined || shallow === 'true') return undefined;
  const at = git('log', '-1', '--format=%aI', '--', path);
  if (at !== undefined && at !== '' && git('status', '--porcelain', '--', path) === '') {
    return new Date(at);
  }
  throw new EvidenceError('FORECAST_UNCOMMITTED', `git does not hold ${path} as it is now`, {
    hint: 'commit a forecast before its matrix runs',
    command: `git log -- ${path}`,
  });
}

function git(...words: readonly string[]): string | undefined {
  try {
    return execFileSync('git', words, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return undefined;
  }
}
