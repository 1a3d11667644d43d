/** `forcedetach expectations`: counts real runs, and adds them to the store that pages and expectations are made from. */
import type { Command } from 'commander';
import { exitCode, needCheckout, projectRoot, typed } from '../../core/index.ts';
import { commandLine, exits, tell } from '../command.ts';
import { mustExist } from '../library/run-folder.ts';

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
      exits(async (folders: readonly string[], { note }: { readonly note: boolean }) => {
        if (note) needCheckout('add measurements to the store');
        await count(folders, note);
        return exitCode.expected;
      }),
    );

async function count(folders: readonly string[], isNoted: boolean): Promise<void> {
  const batch = await import('../../batch/index.ts');
  for (const folder of folders) mustExist(folder, 'a batch or of a run');
  const before = batch.readRuns();
  const found = folders.flatMap((folder) => batch.linesBelow(folder, projectRoot));
  const groups = folders
    .flatMap((folder) => batch.foldersWith(folder, 'verdict.json'))
    .flatMap((run) => batch.groupLineOf(run, batch.sourceOf(run, projectRoot)));
  const all = batch.merged(before, found).length;
  if (isNoted && found.length + groups.length > 0) batch.noteLines([...found, ...groups]);
  const added = all - before.length;
  tell(`${found.length} runs with a verdict, ${added} of them new; ${all} in total`);
  if (groups.length > 0) tell(`${groups.length} runs on groups, which have a table of their own`);
  tell(
    isNoted
      ? 'npx vitest run -u --project unit test/docs makes the pages that count them'
      : 'nothing was written; --note adds them to data/measurements.jsonl',
  );
}
