/** `forcedetach export FOLDER…`: a run's history for Elle and Jepsen's checkers. */
import type { Command } from 'commander';
import { exitCode, typed } from '../../core/index.ts';
import { mysql } from '../../mysql/index.ts';
import { commandLine, exits, tell } from '../command.ts';
import { mustExist } from '../library/run-folder.ts';

export const exportRuns = (): Command =>
  commandLine(typed('export'), [
    ['of one run', 'reports/samples/node-crash'],
    ['of two, one of which was killed', 'reports/first reports/killed --partial'],
  ])
    .description(
      'Writes ledger.edn, ledger.json, bank.edn and bank.json into export/ in each run’s folder.',
    )
    .argument('<folders...>', 'of runs')
    .option('--partial', 'also export an incomplete history, marked as partial', false)
    .action(
      exits(async (folders: readonly string[], { partial }: { readonly partial: boolean }) => {
        const { openHistory } = await import('../../history/index.ts');
        const { exportHistory } = await import('../../report/index.ts');
        for (const folder of folders) {
          mustExist(folder, 'a run');
          const history = openHistory(folder, { salvage: partial });
          for (const path of exportHistory(folder, history, { database: mysql, partial }))
            tell(path);
        }
        return exitCode.expected;
      }),
    );
