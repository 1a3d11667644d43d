/** Rebuilds a run's verdict and report from its history alone, or a batch's from its runs: `experiments/report.mjs FOLDER…`. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { describeError, exitCode, ForcedetachError, type ExitCode } from '../../errors.ts';
import { commandLine, parseArguments, runCommand, say } from '../command.ts';
import { rebuildBatch, rebuildRun, type Rebuilt } from '../batch/rebuild.ts';

export const reportCommand = (): Command =>
  commandLine('npx zx experiments/report.mjs', [
    [
      'the pages of a run whose history git holds',
      'reports/samples/partition-force-delete-unfenced',
    ],
    ['of a batch', 'reports/matrix/default'],
    [
      'of several at once; it exits as the worst',
      'reports/samples/node-crash reports/samples/zombie',
    ],
  ])
    .description(
      'Writes report.html, verdict.json, junit.xml and summary.md anew, and lost.jsonl where\n' +
        'commits were lost, from the history in each run’s folder; of a batch its report.html and\n' +
        'summary.md. Exits as the run did.',
    )
    .argument('<folders...>', 'of runs or batches');

/**
 * Writes into each folder that `process.argv` names. Exits as the run did; of several, as the worst.
 * Never throws.
 */
export const rebuildReports = (): Promise<void> =>
  runCommand('report', async (args) => {
    const command = parseArguments(reportCommand(), args);
    const codes: ExitCode[] = [];
    for (const folder of command.args) codes.push(await rebuild(folder));
    return worstFirst.find((code) => codes.includes(code)) ?? exitCode.expected;
  });

/** An unexpected verdict outweighs one that is missing. */
const worstFirst = [
  exitCode.unexpected,
  exitCode.infrastructure,
  exitCode.inconclusive,
  exitCode.open,
];

async function rebuild(given: string): Promise<ExitCode> {
  const { text, code } = await rebuilt(given.replace(/(?<=.)\/+$/, ''));
  process.stdout.write(`${text}\n`);
  return code;
}

async function rebuilt(folder: string): Promise<Rebuilt> {
  if (existsSync(join(folder, 'batch.json'))) return rebuildBatch(folder);
  const { openHistory } = await import('../../history/reader.ts');
  try {
    return await rebuildRun(folder, openHistory(folder));
  } catch (error) {
    if (!(error instanceof ForcedetachError) || error.code !== 'HISTORY_DAMAGED') throw error;
    say(`${describeError(error)}\nThe report shows what can still be read.`);
    return rebuildRun(folder, openHistory(folder, { salvage: true }));
  }
}
