/** Notes what real runs came to, and makes the pages that count them anew: `experiments/expectations.mjs`. */
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { projectRoot } from '../../checkout.ts';
import { exitCode, UsageError, type ExitCode } from '../../errors.ts';
import { writeOutput } from '../../output-file.ts';
import { commandLine, parseArguments, runCommand, tell } from '../command.ts';

interface Flags {
  readonly from: readonly string[];
  readonly note: boolean;
}

export const expectationsCommand = (): Command =>
  commandLine('npx zx experiments/expectations.mjs', [
    ['how many verdicts a batch has, and how many of them are new', 'reports/matrix/default'],
    ['puts them into docs/', '--note --from reports/matrix/default'],
    ['the pages alone', '--note'],
  ])
    .description(
      'Counts the real runs below the folders. With --note each is put into docs/measurements.jsonl,\n' +
        'one line a run, and the pages that count them are made anew: docs/reference/expectations.md\n' +
        'and drivers.md, and docs/results/README.md; without a folder the pages alone. A batch needs\n' +
        'not have come to its end.',
    )
    .argument('[folder...]', 'of a batch, of a run, or of many')
    .option('--from <folder...>', 'the same', [])
    .option('--note', 'put them into docs/', false);

/** Reads what `process.argv` names and sets the exit code. Never throws. */
export const noteResults = (): Promise<void> =>
  runCommand('expectations', async (args): Promise<ExitCode> => {
    const asked = parseArguments(expectationsCommand(), args);
    const [folders = []] = asked.processedArgs as [string[]?];
    const { from, note } = asked.opts<Flags>();
    await count([...folders, ...from], note);
    return exitCode.expected;
  });

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
      hint: 'give the --out folder of a batch or of a run',
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
  tell(`${found.length} runs came to a verdict, ${added} of them are new; ${all.length} in all`);
  if (groups.length > 0) tell(`${groups.length} runs on groups, which have a table of their own`);
  if (!isNoted) tell('nothing was written: --note puts them into docs/');
}
