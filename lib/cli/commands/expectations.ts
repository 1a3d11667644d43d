/** Notes what real runs came to, and makes the pages that count them again: `forcedetach expectations`. */
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { projectRoot } from '../../checkout.ts';
import { exitCode, UsageError, type ExitCode } from '../../errors.ts';
import { writeOutput } from '../../output-file.ts';
import { typed } from '../../typed.ts';
import { commandLine, exits, tell } from '../command.ts';

interface Flags {
  readonly from: readonly string[];
  readonly note: boolean;
}

export const expectations = (): Command =>
  commandLine(typed('expectations'), [
    ['count the verdicts of a batch', 'reports/matrix/default'],
    ['add them to docs/', '--note --from reports/matrix/default'],
    ['rebuild the pages only', '--note'],
  ])
    .description(
      'Counts the real runs in the folders. --note adds each to data/measurements.jsonl and rebuilds\n' +
        'the pages that count them: docs/reference/expectations.md, drivers.md and\n' +
        'docs/results/README.md; without a folder only the pages. A batch may be incomplete.',
    )
    .argument('[folder...]', 'of a batch, of a run, or of many')
    .option('--from <folder...>', 'the same', [])
    .option('--note', 'add them to docs/', false)
    .action(
      exits(async (folders: readonly string[], { from, note }: Flags): Promise<ExitCode> => {
        await count([...folders, ...from], note);
        return exitCode.expected;
      }),
    );

async function count(folders: readonly string[], isNoted: boolean): Promise<void> {
  const { linesBelow, foldersWith, sourceOf } = await import('../../matrix/collect-events.ts');
  const { groupLineOf } = await import('../../group-replication/measured.ts');
  const { merged, noteLines } = await import('../../measurements/store.ts');
  const { readRuns } = await import('../../expectations/runs.ts');
  const { expectationsPagePath, renderPage } = await import('../../expectations/page.ts');
  const { driversPath, renderDrivers } = await import('../../expectations/drivers-page.ts');
  const { renderResults, resultsPath } = await import('../../expectations/results-page.ts');
  const { readTable } = await import('../../expectations/table.ts');
  const missing = folders.find((folder) => !existsSync(folder));
  if (missing !== undefined) {
    throw new UsageError('NO_FOLDER', `there is no folder ${missing}`, {
      hint: 'give the folder of a batch or of a run',
    });
  }
  const before = readRuns();
  const found = folders.flatMap((folder) => linesBelow(folder, projectRoot));
  const groups = folders
    .flatMap((folder) => foldersWith(folder, 'verdict.json'))
    .flatMap((run) => groupLineOf(run, sourceOf(run, projectRoot)));
  const all = merged(before, found);
  if (isNoted && found.length + groups.length > 0) noteLines([...found, ...groups]);
  if (isNoted) {
    writeOutput(expectationsPagePath, renderPage(readTable(), all));
    writeOutput(driversPath, renderDrivers(all));
    writeOutput(resultsPath, renderResults(all));
  }
  const added = all.length - before.length;
  tell(`${found.length} runs with a verdict, ${added} of them new; ${all.length} in total`);
  if (groups.length > 0) tell(`${groups.length} runs on groups, which have a table of their own`);
  if (!isNoted) tell('nothing was written; --note adds them to docs/');
}
