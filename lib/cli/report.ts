/** Rebuilds a run's verdict and report from its history alone, or a batch's from its runs: `experiments/report.mjs FOLDER…`. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describeError, exitCode, ForcedetachError, UsageError } from '../errors.ts';
import { scriptArguments } from './arguments.ts';
import type { History } from '../history/reader.ts';
import { verdictLine } from './verdict-line.ts';

const usage = 'npx zx experiments/report.mjs FOLDER…';

/** Writes into each folder that `process.argv` names and sets the exit code. Never throws. */
export async function rebuildReports(): Promise<void> {
  try {
    const folders = scriptArguments('report', process.argv);
    if (folders.includes('--help') || folders.includes('-h')) {
      process.stdout.write(`Usage: ${usage}\n\nWrites report.html, verdict.json, junit.xml and `);
      process.stdout.write('summary.md anew, and lost.jsonl where commits were lost, from the ');
      process.stdout.write('history in each run’s folder; of a batch its report.html and ');
      process.stdout.write('summary.md.\n');
      return;
    }
    if (folders.length === 0 || folders.some((folder) => folder.startsWith('-'))) {
      throw new UsageError('NO_FOLDER', 'give the folder of one run or more', { command: usage });
    }
    for (const folder of folders) await rebuild(folder);
  } catch (error) {
    process.stderr.write(`${describeError(error)}\n`);
    process.exitCode = error instanceof ForcedetachError ? error.exitCode : exitCode.infrastructure;
  }
}

async function rebuild(folder: string): Promise<void> {
  if (existsSync(join(folder, 'batch.json'))) return rebuildBatch(folder);
  const { openHistory } = await import('../history/reader.ts');
  try {
    await rebuildRun(folder, openHistory(folder));
  } catch (error) {
    if (!(error instanceof ForcedetachError) || error.code !== 'HISTORY_DAMAGED') throw error;
    process.stderr.write(`${describeError(error)}\nThe report shows what can still be read.\n`);
    await rebuildRun(folder, openHistory(folder, { salvage: true }));
  }
}

async function rebuildRun(folder: string, history: History): Promise<void> {
  const { isGroupRun } = await import('../group-replication/story.ts');
  if (isGroupRun(history.smallRecords())) {
    const { judgeGroup } = await import('../group-replication/judge.ts');
    const { groupVerdictLine, writeGroupOutputs } = await import('../group-replication/write.ts');
    const verdict = judgeGroup(history);
    await writeGroupOutputs(folder, verdict);
    process.stdout.write(`${groupVerdictLine(verdict, folder)}\n`);
    return;
  }
  const { assembleVerdict } = await import('../experiment/assemble.ts');
  const { writeRun } = await import('../report/write.ts');
  const verdict = assembleVerdict(history);
  await writeRun(folder, verdict, history);
  process.stdout.write(`${verdictLine(verdict, `${folder}/report.html`)}\n`);
}

/** The batch's page and summary, from its batch.json and the verdicts of its runs. */
async function rebuildBatch(folder: string): Promise<void> {
  const { batchLine, readBatch, writeBatch } = await import('./write-batch.ts');
  const batch = readBatch(folder);
  await writeBatch(folder, batch, batch.replay ?? '');
  process.stdout.write(`${batchLine(batch, folder)}\n`);
}
