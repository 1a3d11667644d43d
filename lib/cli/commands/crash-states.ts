/** `forcedetach crash-states RUN`: every way in which a loss of power could have ended a run. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { InvalidArgumentError, type Command } from 'commander';
import {
  type ExitCode,
  exitCode,
  InfrastructureError,
  kubernetesDefault,
  typed,
  writeOutput,
} from '../../core/index.ts';
import { openHistory } from '../../history/index.ts';
import { mysql as database } from '../../mysql/index.ts';
import {
  type CrashStatePlan,
  type StateResult,
  describeState,
  describeSummary,
  expectedAfterPowerLoss,
  isExpected,
  keptWrites,
  neededOneWriter,
  runRecord,
  summarizeStates,
} from '../../run/index.ts';
import { powerLosses, type PowerLoss } from '../../scenario/index.ts';
import { commandLine, exits, say } from '../command.ts';
import { numberWithin, seedText } from '../flags/flag-values.ts';
import { imagesOption, type RunFlags } from '../flags/flags.ts';
import { onInterrupt } from '../guard.ts';
import { mustExist } from '../library/run-folder.ts';

interface Request extends Pick<RunFlags, 'images' | 'json' | 'workers'> {
  readonly folder: string;
  readonly seed: string;
  readonly states: number;
  readonly policy: readonly PowerLoss[];
  readonly only?: number;
}

/** States that are reported while they come: the first that are not safe, and every so many. */
const unsafeShown = 5;
const progressEvery = 20;
/** Each is recovered by a server of its own: a thousand take hours. */
const mostStates = 100_000;

/** Writes `<RUN>/crash-states.json`. */
export const crashStates = (): Command =>
  commandLine(typed('crash-states'), [
    ['200 states of a run with --keep-writes', 'reports/kept'],
    ['only state 17 of them; keep its image', 'reports/kept --seed 5e1f --only 17'],
    ['1,000 states of a disk that tears pages', 'reports/kept --policy tears --states 1000'],
  ])
    .description(
      'Rebuilds the volume as a loss of power at sampled moments of the run would have left it,\n' +
        `recovers ${database.title} on it, and checks every commit acknowledged by then.\n` +
        'The run needs --keep-writes. Needs a Docker engine, but no cluster.',
    )
    .argument('<run>', 'folder of the run')
    .option('--states <n>', 'how many crash states', numberWithin(1, mostStates), 200)
    .option(
      '--seed <text>',
      'seed for the moments and for what is lost (default: random)',
      seedText,
    )
    .option('--policy <list>', 'what unflushed writes become', policies, [...powerLosses])
    .option(
      '--workers <n>',
      'states at a time (default: one for each processor)',
      numberWithin(1, 8),
    )
    .option(
      '--only <n>',
      'only this state, thoroughly; its image is kept',
      numberWithin(1, mostStates),
    )
    .addOption(imagesOption())
    .option('--json', 'the result as JSON on stdout', false)
    .action(
      exits((folder: string, flags: Omit<Request, 'folder'>) =>
        carryOut({ ...{ seed: randomBytes(4).toString('hex') }, ...flags, folder }),
      ),
    );

async function carryOut(request: Request): Promise<ExitCode> {
  const { folder, seed, policy } = request;
  mustExist(folder, 'a run with --keep-writes');
  const { runId, scenario } = runRecord(folder, openHistory(folder).smallRecords());
  keptWrites(folder);
  neededOneWriter(folder);
  say(`crash states of run ${runId}, seed ${seed}`);
  const startedMs = performance.now();
  const { results, moments } = await explored(request);
  const summary = summarizeStates(results);
  const asExpected = isExpected(database, scenario, summary);
  const { worst } = summary;
  const answer = {
    schemaVersion: 1,
    ...{ runId, seed, command: commandOf(request), moments },
    durationS: Math.round((performance.now() - startedMs) / 1000),
    ...summary,
    expected: expectedAfterPowerLoss(database, scenario, policy),
    asExpected,
    ...(worst && { rebuildWorst: commandOf({ ...request, only: worst.number }) }),
    states: results,
  };
  const path = join(folder, 'crash-states.json');
  const text = `${JSON.stringify(answer, undefined, 2)}\n`;
  if (request.only === undefined) writeOutput(path, text);
  else for (const result of results) say(describeState(result));
  const report = request.json ? process.stderr : process.stdout;
  report.write(`${describeSummary(answer)}\n`);
  if (request.json) process.stdout.write(text);
  if (asExpected) return exitCode.expected;
  return summary.verdict === 'inconclusive' ? exitCode.inconclusive : exitCode.unexpected;
}

interface Explored {
  readonly results: StateResult[];
  readonly moments: CrashStatePlan['moments'];
}

/** What only an exploration needs is imported by it: --help answers at once. */
async function explored(request: Request): Promise<Explored> {
  const { ensureImages, runStates } = await import('../../kind/index.ts');
  const { folder, states, seed, policy, workers, only, images: source } = request;
  const { tools } = await ensureImages({ source, kubernetes: kubernetesDefault, onProgress: say });
  const results: StateResult[] = [];
  let moments: CrashStatePlan['moments'] | undefined;
  let planned = 0;
  let unsafe = 0;
  using interrupt = onInterrupt(say, () => `${results.length} of ${planned} states`);
  await runStates({
    ...{ folder, image: tools, states, policies: policy, seed, workers, signal: interrupt.signal },
    database: database.real.definedIn,
    only: only === undefined ? undefined : { number: only, keepAs: `crash-state-${only}.img` },
    onPlanned: ({ moments: all, states: count, acked }) => {
      moments = all;
      planned = only === undefined ? count : 1;
      say(`${planned} states; the run acknowledged ${acked} commits`);
    },
    onState: (result) => {
      results.push(result);
      if (result.verdict !== 'safe') unsafe += 1;
      const isNews = result.verdict !== 'safe' && unsafe <= unsafeShown;
      if (!isNews && results.length % progressEvery !== 0) return;
      say(`${results.length} of ${planned}: ${describeState(result)}`);
    },
  });
  if (moments !== undefined && results.length >= planned) {
    return { results: results.toSorted((a, b) => a.number - b.number), moments };
  }
  const what = `only ${results.length} of ${planned} states were examined`;
  throw new InfrastructureError('STATES_MISSING', what);
}

/** Paste-ready, with everything that decides which states there are. */
function commandOf({ folder, states, seed, policy, only }: Request): string {
  return typed('crash-states', [
    ...[folder, '--states', String(states), '--seed', seed],
    ...(policy.length < powerLosses.length ? ['--policy', policy.join(',')] : []),
    ...(only === undefined ? [] : ['--only', String(only)]),
  ]);
}

function policies(text: string): PowerLoss[] {
  const words = text.split(',');
  const known = powerLosses.filter((policy) => words.includes(policy));
  if (known.length === words.length) return known;
  throw new InvalidArgumentError(`Some of ${powerLosses.join(',')}.`);
}
