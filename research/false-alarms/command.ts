/** `research/false-alarms.mjs [FOLDER…]`: the clean volumes among runs on kind, and the tally. */
import type { Command } from 'commander';
import { projectRoot, exitCode, type ExitCode } from '../../lib/core/index.ts';
import { cleanVolumeOf } from './kind-runs.ts';
import { falseAlarmTable } from './table.ts';
import { volumeSchema } from './volume.ts';
import { openHistory } from '../../lib/history/index.ts';
import { foldersWith, sourceOf, linesOf, merged, noteLines } from '../../lib/batch/index.ts';
import { commandLine, parseArguments, runCommand, tell } from '../../lib/cli/index.ts';

/** Counts what the folders hold beside what is known, prints the tally and sets the exit code. Never throws. */
export const countFalseAlarms = (): Promise<void> =>
  runCommand(async (args): Promise<ExitCode> => {
    const command = parseArguments(falseAlarmsCommand(), args);
    const found = command.args
      .flatMap((folder) => foldersWith(folder, 'history'))
      .flatMap((run) => cleanVolumeOf(openHistory(run), sourceOf(run, projectRoot)) ?? []);
    if (command.opts<{ readonly note: boolean }>().note) noteLines(found);
    const all = merged(linesOf(volumeSchema), found);
    tell(falseAlarmTable(all));
    const flagged = all.filter(({ outcome }) => outcome.flagged.length > 0);
    for (const { id, outcome } of flagged) {
      for (const finding of outcome.flagged) tell(`${id}: ${finding}`);
    }
    return flagged.length > 0 ? exitCode.unexpected : exitCode.expected;
  });

export const falseAlarmsCommand = (): Command =>
  commandLine('npx zx research/false-alarms.mjs', [
    ['print the tally', ''],
    ['count a folder of runs', 'reports/samples'],
    ['add it to the tally', '--note reports/samples'],
  ])
    .description(
      'Counts clean volumes, and how many of them the audit flagged. From runs on kind: the volume\n' +
        'before each fault, and after it if the scenario expects only safe.\n' +
        'The rest comes from research/full/false-alarms.test.ts.',
    )
    .argument('[folder...]', 'runs, or folders with runs at any depth')
    .option('--note', 'add the volumes to data/measurements.jsonl', false);
