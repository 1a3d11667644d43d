/** `forcedetach clean`: removes what killed runs left behind on this machine. */
import type { Command } from 'commander';
import { exitCode, type ExitCode, typed } from '../../core/index.ts';
import { pruneImages } from '../../kind/index.ts';
import { reapSweeps } from '../../sweep/index.ts';
import { commandLine, exits, tell as say } from '../command.ts';
import { clusterName } from '../flags/flag-values.ts';

/** Exits with 4 when something resists. */
export const clean = (): Command =>
  commandLine(typed('clean'), [
    ['remove what killed runs left behind', ''],
    ['also clusters of --keep, and replaced images', '--all'],
    ['one cluster only', '--all --cluster-name main'],
  ])
    .description(
      'Removes what killed runs left behind. Objects without the label of forcedetach stay.',
    )
    .option(
      '--all',
      'also kept clusters that are not in use, and old images that were built here',
      false,
    )
    .option(
      '--cluster-name <name>',
      'only the cluster of this name; with --all even if it belongs to another host or user',
      clusterName,
    )
    .action(exits(removeLeftovers));

interface Flags {
  readonly all: boolean;
  readonly clusterName?: string;
}

async function removeLeftovers({ all, clusterName: only }: Flags): Promise<ExitCode> {
  // Needs no Docker engine, so it goes first.
  const sweeps = only === undefined ? await reapSweeps(say) : { removed: [], resisted: [] };
  for (const { namespace, why } of sweeps.resisted) say(`${namespace} stays: ${why}`);
  const { reap } = await import('../../kind/index.ts');
  const { removed, left, resisted } = await reap({ all, only, onProgress: say });
  for (const { cluster, why } of [...left, ...resisted]) say(`${cluster} stays: ${why}`);
  // Clusters first: their containers use images.
  const images = all && only === undefined ? await pruneImages() : [];
  for (const image of images) say(`removed the image ${image}; a newer one is there`);
  const gone = [
    ...sweeps.removed,
    ...removed,
    ...(images.length === 0 ? [] : [`${images.length} images`]),
  ];
  say(gone.length === 0 ? 'Nothing to remove.' : `Removed: ${gone.join(', ')}.`);
  return resisted.length + sweeps.resisted.length > 0 ? exitCode.infrastructure : exitCode.expected;
}
