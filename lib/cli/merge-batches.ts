/** `experiments/merge-batches.mjs OUT FOLDER…`: the shards of one matrix as one batch. */
import { mkdirSync } from 'node:fs';
import { relative } from 'node:path';
import { exitCode, UsageError, type ExitCode } from '../errors.ts';
import { runCommand } from './command.ts';
import { paste } from './arguments.ts';
import { batchLine, readBatch, writeBatch } from './write-batch.ts';

const usage = 'npx zx experiments/merge-batches.mjs OUT FOLDER…';

/** Writes the batch into OUT and sets the exit code. Never throws. */
export const mergeShards = (): Promise<void> =>
  runCommand('merge-batches', async (args): Promise<ExitCode> => {
    if (args.includes('--help') || args.includes('-h')) {
      process.stdout.write(`Usage: ${usage}\n\nWrites batch.json, summary.md and report.html of `);
      process.stdout.write('all shards into OUT; each FOLDER has the batch.json of one.\n');
      return exitCode.expected;
    }
    const [out, ...folders] = args;
    if (out === undefined || folders.length === 0 || args.some((each) => each.startsWith('-'))) {
      throw new UsageError('NO_FOLDER', 'give the new folder and those of the shards', {
        command: usage,
      });
    }
    const { mergeBatches } = await import('../matrix/merge.ts');
    const { batchExitCode } = await import('../matrix/summarize.ts');
    const shards = folders.map((folder) => ({
      batch: readBatch(folder),
      path: relative(out, folder),
    }));
    const batch = mergeBatches(shards);
    mkdirSync(out, { recursive: true });
    await writeBatch(out, batch, paste(['npx', 'zx', 'experiments/merge-batches.mjs', ...args]));
    process.stdout.write(`${batchLine(batch, out)}\n`);
    return batchExitCode(batch);
  });
