/** `research/conformance.mjs [FOLDER…]`: where does the model differ from real runs? */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import {
  differencesOf,
  leastChance,
  rarityOf,
  type RunComparison,
  type Rarity,
} from './judge-differences.ts';
import { predictionPool } from './predict.ts';
import { compareRun, type CompareOptions } from './run-comparison.ts';
import {
  exitCode,
  UsageError,
  type ExitCode,
  readFolder,
  writeOutput,
} from '../../lib/core/index.ts';
import {
  commandLine,
  parseArguments,
  runCommand,
  tell,
  numberWithin,
  outputFile,
  seedText,
} from '../../lib/cli/index.ts';

/** How often, by how many threads and with which dice the model plays. */
export interface PlayFlags extends Pick<CompareOptions, 'runs' | 'seed'> {
  readonly threads: number;
}

interface Flags extends PlayFlags {
  readonly json?: string;
}

/** Runs with a history, by default the committed ones. */
const samples = 'reports/samples';

export const conformanceCommand = (): Command =>
  commandLine('npx zx research/conformance.mjs', [
    ['all committed runs', ''],
    ['one run, narrower intervals', 'reports/samples/node-crash --runs 200'],
  ])
    .description(
      'Plays the scenarios of real runs on the built-in model, many times each, and lists every ' +
        'phase and every order of events in which the model differs.',
    )
    .argument('[folders...]', 'folders of runs, or folders of such folders', [samples])
    .option(
      '--runs <n>',
      'runs of the model for each real run, from 20 on: fewer give no 90 % interval',
      numberWithin(20, 9999),
      40,
    )
    .option('--threads <n>', 'worker threads, 1 to 8', numberWithin(1, 8), 2)
    .option('--seed <text>', 'of the runs of the model', seedText, 'conformance')
    .option('--json <file>', 'writes all numbers there', outputFile);

/** Exit code 0: each difference is a known one. 1: there is news. Never throws. */
export const compareWithModel = (): Promise<void> =>
  runCommand(async (args) => {
    const command = parseArguments(conformanceCommand(), args);
    return compareAll(runsBelow(command.processedArgs[0] as string[]), command.opts());
  });

async function compareAll(folders: readonly string[], flags: Flags): Promise<ExitCode> {
  await using pool = predictionPool(flags.threads);
  const comparisons: RunComparison[] = [];
  for (const folder of folders) {
    const { runs, seed } = flags;
    const comparison = await compareRun(folder, { runs, seed, play: (run) => pool.run(run) });
    comparisons.push(comparison);
    tell(`${describeComparison(comparison)}\n`);
  }
  const rarity = rarityOf(comparisons);
  const differences = comparisons.flatMap(differencesOf);
  const news = differences.filter(({ because }) => because === undefined);
  tell(describeRarity(rarity));
  tell(
    `${comparisons.length} runs: ${differences.length} differences, ${news.length} of them news`,
  );
  if (flags.json !== undefined) {
    const all = { comparisons, differences, rarity };
    writeOutput(flags.json, `${JSON.stringify(all, undefined, 2)}\n`);
  }
  const asKnown = news.length === 0 && rarity.chance >= leastChance;
  return asKnown ? exitCode.expected : exitCode.unexpected;
}

/** Throws UsageError `NO_RUNS`. */
export function runsBelow(folders: readonly string[]): string[] {
  const found = folders.flatMap((folder) => {
    if (!existsSync(folder)) return [];
    const inside = readFolder(folder)
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => join(folder, name));
    return [folder, ...inside].filter((each) => existsSync(join(each, 'history')));
  });
  if (found.length > 0) return found;
  throw new UsageError('NO_RUNS', `no run with a history in ${folders.join(', ')}`, {
    hint: 'give the folder of a run, which contains verdict.json',
    command: 'npx zx research/conformance.mjs reports/samples',
  });
}

/** A comparison in plain text. */
export function describeComparison(comparison: RunComparison): string {
  const { run, scenario, phases, pairs, realVerdict, modelVerdicts, modelRuns } = comparison;
  const verdicts = Object.entries(modelVerdicts).map(([word, count]) => `${word} ${count}`);
  const head = `${run} (${scenario}): ${realVerdict}; ${modelRuns} runs of the model: ${verdicts.join(', ')}`;
  const lines = phases.map(({ phase, realS, model, constant, fit }) => {
    const span = `${model.from.toFixed(2)}–${model.to.toFixed(2)}`.padStart(15);
    const kind = constant ? 'constant' : 'random';
    const mark = fit === 'fits' ? '' : fit;
    return `  ${phase.padEnd(34)}${realS.toFixed(2).padStart(9)} s  model ${span} s  ${kind.padEnd(9)}${mark}`;
  });
  const differences = differencesOf(comparison).map(({ says, because }) =>
    because === undefined ? `  NEW ${says}` : `  known: ${says} (${because})`,
  );
  const compared = comparison.starved
    ? '  its machine did not keep time: nothing but the verdict is compared'
    : `  ${pairs} pairs of steps: their orders`;
  return [head, ...lines.map((line) => line.trimEnd()), compared, ...differences].join('\n');
}

export function describeRarity({ random, rare, chance }: Rarity): string {
  const verdict = chance < leastChance ? 'too many to be chance' : 'no more than chance gives';
  return `${rare} of ${random} random phases lie outside of nine in ten runs of the model: ${verdict} (P = ${chance.toFixed(3)})`;
}
