/** `experiments/export.mjs FOLDER…`: a run's history for Elle and Jepsen's checkers. */
import { exitCode, UsageError, type ExitCode } from '../errors.ts';
import { runCommand } from './command.ts';

const usage = 'npx zx experiments/export.mjs FOLDER…';

/** Writes `export/` into each folder and sets the exit code. Never throws. */
export const exportRuns = (): Promise<void> =>
  runCommand('export', async (folders): Promise<ExitCode> => {
    if (folders.includes('--help') || folders.includes('-h')) {
      process.stdout.write(`Usage: ${usage}\n\nWrites ledger.edn, ledger.json, bank.edn and `);
      process.stdout.write('bank.json into export/ in each run’s folder.\n');
      return exitCode.expected;
    }
    if (folders.length === 0 || folders.some((folder) => folder.startsWith('-'))) {
      throw new UsageError('NO_FOLDER', 'give the folder of one run or more', { command: usage });
    }
    const { openHistory } = await import('../history/reader.ts');
    const { exportHistory } = await import('../export/write.ts');
    for (const folder of folders) {
      for (const path of exportHistory(folder, openHistory(folder))) {
        process.stdout.write(`${path}\n`);
      }
    }
    return exitCode.expected;
  });
