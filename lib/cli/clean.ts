/** `experiments/clean.mjs`: removes what dead runs left behind on this machine. */
import { Command } from 'commander';
import { reap } from '../cluster/kind/reap.ts';
import { exitCode } from '../errors.ts';
import { runCommand } from './command.ts';

/** Removes leftovers and sets the exit code: 0, or 4 when one resists. Never throws. */
export const clean = (): Promise<void> =>
  runCommand('clean', async (args) => {
    const command = new Command('clean')
      .description(
        'Removes what dead runs left behind. What carries no label of ours is not touched.',
      )
      .option('--all', 'also clusters that were kept; never one in use', false)
      .option('--cluster-name <name>', 'only the cluster of this name');
    command.exitOverride().parse(args, { from: 'user' });
    const { all, clusterName } = command.opts<{ all: boolean; clusterName?: string }>();
    const say = (line: string): void => void process.stdout.write(`${line}\n`);
    const { removed, left, resisted } = await reap({ all, only: clusterName, onProgress: say });
    for (const { cluster, why } of [...left, ...resisted]) say(`${cluster} stays: ${why}`);
    say(removed.length === 0 ? 'Nothing to remove.' : `Removed: ${removed.join(', ')}.`);
    return resisted.length > 0 ? exitCode.infrastructure : exitCode.expected;
  });
