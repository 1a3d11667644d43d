/** The flags of `forcedetach sweep`. */
import { availableParallelism } from 'node:os';
import { Option, type Command } from 'commander';
import { diskModes, type DiskMode } from '../../scenario/index.ts';
import type { ImageChoice } from '../../sweep/index.ts';
import { typed } from '../../core/index.ts';
import { commandLine } from '../command.ts';
import type { RunFlags } from './flags.ts';
import { nonEmpty, numberWithin, positiveMs, seedText } from './flag-values.ts';

/** Each costs a thread some 60 MB; more than there are processors gain nothing. */
const mostThreads = 64;
/** A pod each. */
const mostShards = 1000;
const mostFindings = 100_000;
/** What a number holds exactly, a little less: years of sweeping. */
const mostSchedules = 1e15;

export interface SweepFlags extends Pick<RunFlags, 'seed' | 'out' | 'json'> {
  /** Undefined: only time ends it. */
  readonly schedules?: number;
  /** Milliseconds; undefined: a minute, unless a number of schedules is given. */
  readonly time?: number;
  readonly threads: number;
  readonly findings: number;
  /** Undefined: drawn. */
  readonly disk?: DiskMode;
  /** Runs it as an Indexed Job on a Kubernetes cluster. */
  readonly onCluster: boolean;
  /** Context of the kubeconfig; undefined: its current one. */
  readonly context?: string;
  /** Pods; undefined: one an island, at most 16. */
  readonly shards?: number;
  /** Undefined: auto. */
  readonly images?: ImageChoice;
}

export const sweepCommand = (): Command =>
  commandLine(typed('sweep'), [
    ['five minutes; the same command continues it', '--time 5m --out reports/my-sweep'],
    ['a million schedules on one kind of disk', '--schedules 1000000 --disk fenced'],
    ['on eight pods', '--on-cluster --schedules 1000000 --shards 8'],
  ])
    .description(
      'Plays random schedules on the built-in model, looks for broken invariants, and shrinks what\n' +
        'it finds. The same command with the same --out continues a sweep.',
    )
    .option('--schedules <n>', 'number of schedules', numberWithin(0, mostSchedules))
    .option(
      '--time <time>',
      'how long to sweep (default: 60s, unless --schedules is given)',
      positiveMs,
    )
    .option('--threads <n>', 'worker threads', numberWithin(1, mostThreads), availableParallelism())
    .option(
      '--findings <n>',
      'most findings to shrink and write',
      numberWithin(0, mostFindings),
      60,
    )
    .addOption(
      new Option('--disk <kind>', 'one kind of disk for all schedules (default: random)').choices(
        diskModes,
      ),
    )
    .option('--seed <text>', 'seed for every random draw (default: random)', seedText)
    .option('--out <folder>', 'folder of the sweep; if it has one, continue it', nonEmpty)
    .option('--json', 'sweep.json on stdout', false)
    .option('--on-cluster', 'run as a Job on the Kubernetes cluster of your kubeconfig', false)
    .option('--context <name>', 'another context of the kubeconfig', nonEmpty)
    .option(
      '--shards <n>',
      'number of pods (default: one for each 40,000 schedules, at most 16)',
      numberWithin(1, mostShards),
    )
    .addOption(
      new Option(
        '--images <source>',
        'image of the pods: node:24, or one built on the nodes',
      ).choices(['auto', 'published', 'built']),
    );
