/** `experiments/merge-batches.mjs OUT FOLDER…`: the shards of one matrix as one batch. */
import { relative } from 'node:path';
import type { ExitCode } from '../../errors.ts';
import { commandLine, parseArguments, runCommand, tell } from '../command.ts';
import { paste } from '../flags/typed.ts';
import { makeFolder } from '../../library/run-folder.ts';
import { batchLine, readBatch, writeBatch } from '../batch/write-batch.ts';

/** Writes the batch into OUT and sets the exit code. Never throws. */
export const mergeShards = (): Promise<void> =>
  runCommand('merge-batches', async (args): Promise<ExitCode> => {
    const command = commandLine('npx zx experiments/merge-batches.mjs')
      .description('Writes batch.json, summary.md and report.html of all shards of a matrix.')
      .argument('<out>', 'the new folder')
      .argument('<folders...>', 'each has the batch.json of one shard');
    parseArguments(command, args);
    const [out = '', ...folders] = command.args;
    const { mergeBatches } = await import('../../matrix/merge.ts');
    const { batchExitCode } = await import('../../matrix/summarize.ts');
    const shards = folders.map((folder) => ({
      batch: readBatch(folder),
      path: relative(out, folder),
    }));
    const batch = mergeBatches(shards);
    makeFolder(out);
    await writeBatch(out, batch, paste(['npx', 'zx', 'experiments/merge-batches.mjs', ...args]));
    tell(batchLine(batch, out));
    return batchExitCode(batch);
  });
