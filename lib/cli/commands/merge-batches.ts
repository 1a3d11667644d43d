/** `experiments/merge-batches.mjs OUT FOLDER…`: the shards of one matrix as one batch. */
import { relative } from 'node:path';
import type { Command } from 'commander';
import type { ExitCode } from '../../errors.ts';
import { commandLine, parseArguments, runCommand, tell } from '../command.ts';
import { paste } from '../flags/typed.ts';
import { checkNewFolder, makeFolder } from '../../library/run-folder.ts';
import { batchLines, readBatch, writeBatch } from '../batch/write-batch.ts';

export const mergeCommand = (): Command =>
  commandLine('npx zx experiments/merge-batches.mjs', [
    [
      'what matrix.mjs --shard 1/3, 2/3 and 3/3 left on three machines',
      'reports/all reports/shard-1 reports/shard-2 reports/shard-3',
    ],
  ])
    .description('Writes batch.json, summary.md and report.html of all shards of a matrix.')
    .argument('<out>', 'the new folder')
    .argument('<folders...>', 'each has the batch.json of one shard');

/** Writes the batch into OUT and sets the exit code. Never throws. */
export const mergeShards = (): Promise<void> =>
  runCommand('merge-batches', async (args): Promise<ExitCode> => {
    const command = parseArguments(mergeCommand(), args);
    const [out = '', ...folders] = command.args;
    checkNewFolder(out);
    const { mergeBatches } = await import('../../matrix/merge.ts');
    const { batchExitCode } = await import('../../matrix/summarize.ts');
    const shards = folders.map((folder) => ({
      batch: readBatch(folder),
      path: relative(out, folder),
    }));
    const batch = mergeBatches(shards);
    makeFolder(out);
    await writeBatch(out, batch, paste(['npx', 'zx', 'experiments/merge-batches.mjs', ...args]));
    tell(batchLines(batch, out));
    return batchExitCode(batch);
  });
