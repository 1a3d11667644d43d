/** Rebuilds a run's verdict and report from its history alone, or a batch's from its runs: `experiments/report.mjs FOLDER…`. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describeError, exitCode, ForcedetachError, UsageError, type ExitCode } from '../errors.ts';
import { scriptArguments } from './arguments.ts';
import type { History } from '../history/reader.ts';
import { verdictLine } from './verdict-line.ts';

const usage = 'npx zx experiments/report.mjs FOLDER…';

/**
 * Writes into each folder that `process.argv` names. Exits as the run did; of several, as the worst.
 * Never throws.
 */
export async function rebuildReports(): Promise<void> {
  try {
    const folders = scriptArguments('report', process.argv);
    if (folders.includes('--help') || folders.includes('-h')) {
      process.stdout.write(`Usage: ${usage}\n\nWrites report.html, verdict.json, junit.xml and `);
      process.stdout.write('summary.md anew, and lost.jsonl where commits were lost, from the ');
      process.stdout.write('history in each run’s folder; of a batch its report.html and ');
      process.stdout.write('summary.md. Exits as the run did.\n');
      return;
    }
    if (folders.length === 0 || folders.some((folder) => folder.startsWith('-'))) {
      throw new UsageError('NO_FOLDER', 'give the folder of one run or more', { command: usage });
    }
    const codes: ExitCode[] = [];
    for (const folder of folders) codes.push(await rebuild(folder));
    process.exitCode = worstFirst.find((code) => codes.includes(code)) ?? exitCode.expected;
  } catch (error) {
    process.stderr.write(`${describeError(error)}\n`);
    process.exitCode = error instanceof ForcedetachError ? error.exitCode : exitCode.infrastructure;
  }
}

/** An unexpected verdict outweighs one that is missing. */
const worstFirst = [exitCode.unexpected, exitCode.infrastructure, exitCode.inconclusive];

async function rebuild(folder: string): Promise<ExitCode> {
  if (existsSync(join(folder, 'batch.json'))) return rebuildBatch(folder);
  const { openHistory } = await import('../history/reader.ts');
  try {
    return await rebuildRun(folder, openHistory(folder));
  } catch (error) {
    if (!(error instanceof ForcedetachError) || error.code !== 'HISTORY_DAMAGED') throw error;
    process.stderr.write(`${describeError(error)}\nThe report shows what can still be read.\n`);
    return rebuildRun(folder, openHistory(folder, { salvage: true }));
  }
}

async function rebuildRun(folder: string, history: History): Promise<ExitCode> {
  const { exitCodeOf } = await import('../experiment/verdict.ts');
  const { isGroupRun } = await import('../group-replication/story.ts');
  if (isGroupRun(history.smallRecords())) {
    const { judgeGroup } = await import('../group-replication/judge.ts');
    const { groupVerdictLine, writeGroupOutputs } = await import('../group-replication/write.ts');
    const verdict = judgeGroup(history);
    await writeGroupOutputs(folder, verdict);
    process.stdout.write(`${groupVerdictLine(verdict, folder)}\n`);
    return exitCodeOf(verdict);
  }
  const { assembleVerdict } = await import('../experiment/assemble.ts');
  const { writeRun } = await import('../report/write.ts');
  const verdict = assembleVerdict(history);
  await writeRun(folder, verdict, history);
  process.stdout.write(`${verdictLine(verdict, `${folder}/report.html`)}\n`);
  return exitCodeOf(verdict);
}

/** The batch's page and summary, from its batch.json and the verdicts of its runs. */
async function rebuildBatch(folder: string): Promise<ExitCode> {
  const { batchExitCode } = await import('../matrix/summarize.ts');
  const { batchLine, readBatch, writeBatch } = await import('./write-batch.ts');
  const batch = readBatch(folder);
  await writeBatch(folder, batch, batch.replay ?? '');
  process.stdout.write(`${batchLine(batch, folder)}\n`);
  return batchExitCode(batch);
}
