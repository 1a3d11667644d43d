/** The flags of `forcedetach matrix`. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { mostPools } from '../../run/index.ts';
import { typed } from '../../core/index.ts';
import { commandLine } from '../command.ts';
import { failOnOption } from '../fail-on.ts';
import { whereOption as where } from './run-options.ts';
import type { RunFlags } from './flags.ts';
import {
  clusterName,
  kubernetes,
  nonEmpty,
  numberWithin,
  seedText,
  workerCount,
  workersWords,
} from './flag-values.ts';

export interface MatrixFlags extends Omit<RunFlags, 'clusterName' | 'diskFrom' | 'diskClass'> {
  /** Undefined: as many as the machine carries. */
  readonly clusterNames?: readonly string[];
  /** For all cells; undefined: as the file says. */
  readonly kubernetes?: string;
  readonly volumes?: number;
  readonly pools: number;
  readonly only?: string;
  readonly shard?: MatrixPart;
  /** Shortened timers for all cells. */
  readonly short: boolean;
  readonly baseline?: string;
  readonly reports: 'all' | 'unexpected';
}

/** One of so many parts, from 1. */
export interface MatrixPart {
  readonly number: number;
  readonly of: number;
}

export const defaultMatrix = 'experiments/matrices/default.yaml';

function part(text: string): MatrixPart {
  const [, number = 0, of = 0] = /^(\d+)\/(\d+)$/.exec(text)?.map(Number) ?? [];
  if (number >= 1 && number <= of) return { number, of };
  throw new InvalidArgumentError('Give a part such as 1/3.');
}

/** Volumes under one fault: each has its writers, its image and its audit. */
const mostVolumes = 64;

const names = (text: string): string[] => text.split(',').map(clusterName);

const examples = [
  [
    'every kind of disk, predicted in minutes',
    'experiments/matrices/disks.yaml --cluster sim --reports unexpected',
  ],
  [
    'show what would be measured with shortened timers',
    'experiments/matrices/short.yaml --cluster kind --images built --dry-run',
  ],
  [
    'the first of three machines',
    '--shard 1/3 --seed nightly --cluster kind --out reports/shard-1',
  ],
] as const;

export const matrixCommand = (): Command =>
  commandLine(typed('matrix'), examples)
    .description(
      'Runs every cell of a matrix, with controls, and reports which are safe. The same command\n' +
        'with the same --out continues a batch that was killed.',
    )
    .argument('[file]', 'matrix file, see docs/reference/matrix.md', defaultMatrix)
    .addOption(where('cluster'))
    .option(
      '--cluster-names <list>',
      'kind clusters; the first one has the pools (default: as many as cores and memory allow)',
      names,
    )
    .addOption(where('images'))
    .addOption(where('registry'))
    .option(
      '--kubernetes <version>',
      'a minor version or a patch, for all cells (default: from the file)',
      kubernetes,
    )
    .option('--workers <n>', `of each pool: ${workersWords}`, workerCount)
    .option(
      '--volumes <n>',
      'most cells under one fault event, each with a volume on the victim (default: 8 on kind, 1 on the model)',
      numberWithin(1, mostVolumes),
    )
    .option(
      '--pools <n>',
      'on kind: pools of worker nodes in the first cluster, one for each fault event',
      numberWithin(1, mostPools),
      1,
    )
    .option('--keep', 'keep the clusters for the next batch', false)
    .option('--only <text>', 'only cells whose id or label contains this; controls always run')
    .option('--shard <i/n>', 'every n-th cell from the i-th; merge-batches joins them', part)
    .option('--short', 'shortened timers (10 s, 10 s, 30 s) instead of those in the file', false)
    .option(
      '--seed <text>',
      'seed for the order and every random draw (default: from the file, else random)',
      seedText,
    )
    .option('--out <folder>', 'folder of the batch; if it has one, continue it', nonEmpty)
    .option('--baseline <folder>', 'a batch to compare with; its batch.json is copied', nonEmpty)
    .addOption(
      new Option('--reports <which>', 'which runs get their own page (2 MB each)')
        .choices(['all', 'unexpected'])
        .default('all'),
    )
    .addOption(failOnOption())
    .option('--json', 'batch.json on stdout, everything else on stderr', false)
    .option('--dry-run', 'show cells and order; create nothing', false);
