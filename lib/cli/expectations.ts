/** Puts the results of runs beside what was expected: `experiments/expectations.mjs FOLDER…`. */
import { writeFileSync } from 'node:fs';
import { describeError, exitCode, ForcedetachError, UsageError } from '../errors.ts';
import { scriptArguments } from './arguments.ts';

const usage = 'npx zx experiments/expectations.mjs FOLDER…';

/** Reads every run below the folders that `process.argv` names. Never throws. */
export async function noteResults(): Promise<void> {
  try {
    const folders = scriptArguments('expectations', process.argv);
    if (folders.includes('--help') || folders.includes('-h')) {
      process.stdout.write(
        `Usage: ${usage}\n\nNotes the verdicts of all runs below the folders in `,
      );
      process.stdout.write(
        'docs/expectations-measured.json and makes docs/expectations.md anew.\n',
      );
      return;
    }
    const flag = folders.find((folder) => folder.startsWith('-'));
    if (flag !== undefined) {
      throw new UsageError('UNKNOWN_FLAG', `there is no flag ${flag}`, { command: usage });
    }
    await note(folders);
  } catch (error) {
    process.stderr.write(`${describeError(error)}\n`);
    process.exitCode = error instanceof ForcedetachError ? error.exitCode : exitCode.infrastructure;
  }
}

/** Without folders the page alone is made anew. */
async function note(folders: readonly string[]): Promise<void> {
  const { measuredBelow, measuredOfDisks, measuredPath, merged, readMeasured } = await import(
    '../expectations/measured.ts'
  );
  const { pagePath, renderPage } = await import('../expectations/page.ts');
  const { cellsOf, readTable } = await import('../expectations/table.ts');
  const table = readTable();
  const cells = cellsOf(table);
  const disks = measuredOfDisks(new URL('../../docs/disk-modes.json', import.meta.url), cells);
  const found = [...disks, ...folders.flatMap((folder) => measuredBelow(folder, cells))];
  const all = merged(readMeasured(), found, cells);
  writeFileSync(measuredPath, `${JSON.stringify(all, undefined, 2)}\n`);
  writeFileSync(pagePath, renderPage(table, all));
  process.stdout.write(`${found.length} runs answer a cell; ${all.length} results in all\n`);
}
