/** `experiments/export.mjs FOLDER…`: a run's history for Elle and Jepsen's checkers. */
import type { Command } from 'commander';
import { exitCode, type ExitCode } from '../../errors.ts';
import { commandLine, parseArguments, runCommand, tell } from '../command.ts';

export const exportCommand = (): Command =>
  commandLine('npx zx experiments/export.mjs', [
    ['of one run', 'reports/samples/node-crash'],
    ['of two, one of which was killed', 'reports/first reports/killed --partial'],
  ])
    .description(
      'Writes ledger.edn, ledger.json, bank.edn and bank.json into export/ in each run’s folder.',
    )
    .argument('<folders...>', 'of runs')
    .option('--partial', 'also export an incomplete history, marked as partial', false);

/** Writes `export/` into each folder and sets the exit code. Never throws. */
export const exportRuns = (): Promise<void> =>
  runCommand('export', async (args): Promise<ExitCode> => {
    const command = parseArguments(exportCommand(), args);
    const { partial } = command.opts<{ readonly partial: boolean }>();
    const { openHistory } = await import('../../history/reader.ts');
    const { exportHistory } = await import('../../export/write.ts');
    for (const folder of command.args) {
      for (const path of exportHistory(folder, openHistory(folder, { salvage: partial }), {
        partial,
      })) {
        tell(path);
      }
    }
    return exitCode.expected;
  });
