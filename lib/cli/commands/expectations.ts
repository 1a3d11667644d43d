/** `forcedetach expectations`: counts real runs, and adds them to the store that pages and expectations are made from. */
import type { Command } from 'commander';
import { needCheckout, projectRoot, exitCode, type ExitCode, typed } from '../../core/index.ts';
import { mustExist } from '../library/run-folder.ts';
import { commandLine, exits, tell } from '../command.ts';

interface Flags {
  readonly note: boolean;
}

export const expectations = (): Command =>
  commandLine(typed('expectations'), [
    ['count the verdicts of a batch', 'reports/races'],
    ['add them to the store', '--note reports/races'],
  ])
    .description(
      'Counts the real runs in the folders, also of a batch that is incomplete.\n' +
        '--note adds each to data/measurements.jsonl.',
    )
    .argument('[folder...]', 'of a batch, of a run, or of many')
    .option('--note', 'add them to data/measurements.jsonl', false)
    .action(
      exits(async (folders: readonly string[], { note }: Flags): Promise<ExitCode> => {
        if (note) needCheckout('add measurements to the store');
        await count(folders, note);
        return exitCode.expected;
      }),
    );

async function count(folders: readonly string[], isNoted: boolean): Promise<void> {
  const { linesBelow, foldersWith, sourceOf } = await import('../../batch/index.ts');
  const { groupLineOf } = await import('../../batch/index.ts');
  const { merged, noteLines } = await import('../../batch/index.ts');
  const { readRuns } = await import('../../batch/index.ts');
  for (const folder of folders) mustExist(folder, 'a batch or of a run');
  const before = readRuns();
  const found = folders.flatMap((folder) => linesBelow(folder, projectRoot));
  const groups = folders
    .flatMap((folder) => foldersWith(folder, 'verdict.json'))
    .flatMap((run) => groupLineOf(run, sourceOf(run, projectRoot)));
  const all = merged(before, found);
  if (isNoted && found.length + groups.length > 0) noteLines([...found, ...groups]);
  const added = all.length - before.length;
  tell(`${found.length} runs with a verdict, ${added} of them new; ${all.length} in total`);
  if (groups.length > 0) tell(`${groups.length} runs on groups, which have a table of their own`);
  tell(
    isNoted
      ? 'npx vitest run -u --project unit test/docs makes the pages that count them'
      : 'nothing was written; --note adds them to data/measurements.jsonl',
  );
}
