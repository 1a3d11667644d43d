/** `experiments/false-alarms.mjs [FOLDER…]`: the clean volumes among runs on kind, and the tally. */
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Command } from 'commander';
import { exitCode, type ExitCode } from '../errors.ts';
import { cleanVolumeOf } from '../false-alarms/kind-runs.ts';
import { falseAlarmTable } from '../false-alarms/table.ts';
import { parseVolumes, type CleanVolume } from '../false-alarms/volume.ts';
import { openHistory } from '../history/reader.ts';
import { runCommand } from './command.ts';

const defaultFile = 'reports/false-alarms/volumes.jsonl';

/** Adds what the folders hold, prints the tally and sets the exit code. Never throws. */
export const countFalseAlarms = (): Promise<void> =>
  runCommand('false-alarms', async (args): Promise<ExitCode> => {
    const command = commandLine();
    command.parse(args, { from: 'user' });
    const { file } = command.opts<{ readonly file: string }>();
    const known = existsSync(file) ? parseVolumes(readFileSync(file, 'utf8')) : [];
    const keys = new Set(known.map(({ key }) => key));
    const found: CleanVolume[] = [];
    for (const run of command.args.flatMap(runFolders)) {
      const volume = cleanVolumeOf(openHistory(run));
      if (volume === undefined || keys.has(volume.key)) continue;
      keys.add(volume.key);
      found.push(volume);
    }
    mkdirSync(dirname(file), { recursive: true });
    for (const volume of found) appendFileSync(file, `${JSON.stringify(volume)}\n`);
    const all = [...known, ...found];
    process.stdout.write(`${falseAlarmTable(all)}\n`);
    for (const { key, flagged } of all) {
      for (const finding of flagged) process.stdout.write(`${key}: ${finding}\n`);
    }
    return all.some(({ flagged }) => flagged.length > 0) ? exitCode.unexpected : exitCode.expected;
  });

const commandLine = (): Command =>
  new Command('false-alarms')
    .description(
      'Counts the volumes that nothing could harm, and those of them that the audit accused.\n' +
        'From runs on kind: the volume before each fault, and for good where the scenario\n' +
        'expects nothing but safe. The rest comes from test/full/false-alarms.test.ts.',
    )
    .argument('[folder...]', 'runs, or folders with runs at any depth')
    .option('--file <path>', 'one volume a line; what is there is not counted again', defaultFile)
    .exitOverride();

/** Folders at or below it that have a history. */
function runFolders(folder: string): string[] {
  if (existsSync(join(folder, 'history'))) return [folder];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => runFolders(join(folder, name)));
}
