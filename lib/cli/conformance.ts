/** `experiments/conformance.mjs [FOLDER…]`: where does the model differ from real runs? */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { describeComparison, describeRarity } from '../conformance/describe.ts';
import { differencesOf, leastChance, rarityOf, type RunComparison } from '../conformance/judge.ts';
import { predictionPool } from '../conformance/pool.ts';
import { compareRun } from '../conformance/run-comparison.ts';
import { exitCode, UsageError, type ExitCode } from '../errors.ts';
import { runCommand } from './command.ts';

interface Flags {
  readonly runs: number;
  readonly threads: number;
  readonly seed: string;
  readonly json?: string;
}

/** Runs with a history, by default the committed ones. */
const samples = 'reports/samples';

/** Exit code 0: each difference is a known one. 1: there is news. Never throws. */
export function compareWithModel(): Promise<void> {
  return runCommand('conformance', async (args) => {
    const command = new Command('npx zx experiments/conformance.mjs')
      .description(
        'Plays the scenarios of real runs on the built-in model, many times each, and lists every ' +
          'phase and every order of events in which the model differs.',
      )
      .argument('[folders...]', 'folders of runs, or folders of such folders', [samples])
      .option('--runs <n>', 'runs of the model for each real run, from 20 on', runCount, 40)
      .option('--threads <n>', 'worker threads, 1 to 8', threadCount, 2)
      .option('--seed <text>', 'of the runs of the model', 'conformance')
      .option('--json <file>', 'writes all numbers there')
      .exitOverride()
      .parse([...args], { from: 'user' });
    return compareAll(
      runsBelow(command.args.length > 0 ? command.args : [samples]),
      command.opts(),
    );
  });
}

async function compareAll(folders: readonly string[], flags: Flags): Promise<ExitCode> {
  await using pool = predictionPool(flags.threads);
  const comparisons: RunComparison[] = [];
  for (const folder of folders) {
    const { runs, seed } = flags;
    const comparison = await compareRun(folder, { runs, seed, play: (run) => pool.run(run) });
    comparisons.push(comparison);
    process.stdout.write(`${describeComparison(comparison)}\n\n`);
  }
  const rarity = rarityOf(comparisons);
  const differences = comparisons.flatMap(differencesOf);
  const news = differences.filter(({ because }) => because === undefined);
  process.stdout.write(`${describeRarity(rarity)}\n`);
  process.stdout.write(
    `${comparisons.length} runs: ${differences.length} differences, ${news.length} of them news\n`,
  );
  if (flags.json !== undefined) {
    const all = { comparisons, differences, rarity };
    writeFileSync(flags.json, `${JSON.stringify(all, undefined, 2)}\n`);
  }
  const asKnown = news.length === 0 && rarity.chance >= leastChance;
  return asKnown ? exitCode.expected : exitCode.unexpected;
}

/** Throws UsageError `NO_RUNS`. */
function runsBelow(folders: readonly string[]): string[] {
  const found = folders.flatMap((folder) => {
    if (!existsSync(folder)) return [];
    const inside = readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => join(folder, name));
    return [folder, ...inside].filter((each) => existsSync(join(each, 'history')));
  });
  if (found.length > 0) return found;
  throw new UsageError('NO_RUNS', `no run with a history in ${folders.join(', ')}`, {
    hint: 'give the folder of a run, the one that holds verdict.json',
    command: 'npx zx experiments/conformance.mjs reports/samples',
  });
}

function runCount(text: string): number {
  if (/^\d{2,4}$/.test(text) && Number(text) >= 20) return Number(text);
  throw new InvalidArgumentError('A whole number from 20 to 9999: fewer give no 90 % interval.');
}

function threadCount(text: string): number {
  if (/^[1-8]$/.test(text)) return Number(text);
  throw new InvalidArgumentError('From 1 to 8.');
}
