/** `experiments/false-alarms.mjs [FOLDER…]`: the clean volumes among runs on kind, and the tally. */
import { appendFileSync, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { exitCode, type ExitCode } from '../../errors.ts';
import { cleanVolumeOf } from '../../false-alarms/kind-runs.ts';
import { falseAlarmTable } from '../../false-alarms/table.ts';
import { parseVolumes, type CleanVolume } from '../../false-alarms/volume.ts';
import { openHistory } from '../../history/reader.ts';
import { readFolder, readText } from '../../input-file.ts';
import { commandLine, parseArguments, runCommand, tell } from '../command.ts';
import { nonEmpty } from '../flags/flag-values.ts';
import { makeFolder } from '../../library/run-folder.ts';

const defaultFile = 'reports/false-alarms/volumes.jsonl';

/** Counts what the folders hold beside what is known, prints the tally and sets the exit code. Never throws. */
export const countFalseAlarms = (): Promise<void> =>
  runCommand('false-alarms', async (args): Promise<ExitCode> => {
    const command = parseArguments(falseAlarmsCommand(), args);
    const { file, note } = command.opts<{ readonly file: string; readonly note: boolean }>();
    const known = existsSync(file) ? parseVolumes(readText(file), file) : [];
    const keys = new Set(known.map(({ key }) => key));
    const found: CleanVolume[] = [];
    for (const run of command.args.flatMap(runFolders)) {
      const volume = cleanVolumeOf(openHistory(run));
      if (volume === undefined || keys.has(volume.key)) continue;
      keys.add(volume.key);
      found.push(volume);
    }
    if (note && found.length > 0) {
      makeFolder(dirname(file));
      for (const volume of found) appendFileSync(file, `${JSON.stringify(volume)}\n`);
    }
    const all = [...known, ...found];
    tell(falseAlarmTable(all));
    for (const { key, flagged } of all) {
      for (const finding of flagged) tell(`${key}: ${finding}`);
    }
    return all.some(({ flagged }) => flagged.length > 0) ? exitCode.unexpected : exitCode.expected;
  });

export const falseAlarmsCommand = (): Command =>
  commandLine('npx zx experiments/false-alarms.mjs', [
    ['the tally of all that was counted', ''],
    ['what a folder of runs would add to it', 'reports/samples'],
    ['adds it', '--note reports/samples'],
  ])
    .description(
      'Counts the volumes that nothing could harm, and those of them that the audit accused.\n' +
        'From runs on kind: the volume before each fault, and for good where the scenario\n' +
        'expects nothing but safe. The rest comes from test/full/false-alarms.test.ts.',
    )
    .argument('[folder...]', 'runs, or folders with runs at any depth')
    .option(
      '--file <path>',
      'one volume a line; what is there is not counted again',
      nonEmpty,
      defaultFile,
    )
    .option('--note', 'add the volumes to the file', false);

/** Folders at or below it that have a history. */
function runFolders(folder: string): string[] {
  if (existsSync(join(folder, 'history'))) return [folder];
  return readFolder(folder)
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => runFolders(join(folder, name)));
}
