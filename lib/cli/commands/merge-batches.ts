/** `forcedetach merge-batches OUT FOLDER…`: the shards of one matrix as one batch. */
import { relative } from 'node:path';
import type { Command } from 'commander';
import { type ExitCode, typed } from '../../core/index.ts';
import { commandLine, exits, tell } from '../command.ts';
import { checkNewFolder, makeFolder } from '../library/run-folder.ts';
import { batchLines, readBatch, writeBatch } from '../batch/write-batch.ts';

export const mergeBatches = (): Command =>
  commandLine(typed('merge-batches'), [
    [
      'what matrix --shard 1/3, 2/3 and 3/3 left on three machines',
      'reports/all reports/shard-1 reports/shard-2 reports/shard-3',
    ],
  ])
    .description('Writes batch.json, summary.md and report.html of all shards of a matrix.')
    .argument('<out>', 'the new folder')
    .argument('<folders...>', 'each has the batch.json of one shard')
    .action(exits(mergeInto));

async function mergeInto(out: string, folders: readonly string[]): Promise<ExitCode> {
  checkNewFolder(out);
  const { mergeBatches: merge } = await import('../../batch/index.ts');
  const { batchExitCode } = await import('../../batch/index.ts');
  const shards = folders.map((folder) => ({
    batch: readBatch(folder),
    path: relative(out, folder),
  }));
  const batch = merge(shards);
  makeFolder(out);
  await writeBatch(out, batch, typed('merge-batches', [out, ...folders]));
  tell(batchLines(batch, out));
  return batchExitCode(batch);
}
