/** `experiments/clean.mjs`: removes what dead runs left behind on this machine. */
import type { Command } from 'commander';
import { reap } from '../../cluster/kind/ownership/reap.ts';
import { exitCode } from '../../errors.ts';
import { pruneImages } from '../../images/prune.ts';
import { reapSweeps } from '../../sweep/on-cluster/namespace.ts';
import { commandLine, parseArguments, runCommand, tell } from '../command.ts';
import { clusterName } from '../flags/flag-values.ts';

export const cleanCommand = (): Command =>
  commandLine('npx zx experiments/clean.mjs', [
    ['what runs left behind that no longer live', ''],
    ['the cluster that --keep left as well, and images that a newer one replaced', '--all'],
    ['that cluster alone', '--all --cluster-name main'],
  ])
    .description(
      'Removes what dead runs left behind. What carries no label of ours is not touched.',
    )
    .option(
      '--all',
      'also clusters that were kept, never one in use, and old images that were built here',
      false,
    )
    .option(
      '--cluster-name <name>',
      'only the cluster of this name; with --all also where it belongs to another host or user',
      clusterName,
    );

/** Removes leftovers and sets the exit code: 0, or 4 when one resists. Never throws. */
export const clean = (): Promise<void> =>
  runCommand('clean', async (args) => {
    const command = parseArguments(cleanCommand(), args);
    const { all, clusterName: only } = command.opts<{ all: boolean; clusterName?: string }>();
    const say = tell;
    // Needs no Docker engine, so it goes first.
    const sweeps = only === undefined ? await reapSweeps(say) : { removed: [], resisted: [] };
    for (const { namespace, why } of sweeps.resisted) say(`${namespace} stays: ${why}`);
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
    return resisted.length + sweeps.resisted.length > 0
      ? exitCode.infrastructure
      : exitCode.expected;
  });
