/** `forcedetach inspect FOLDER`: could two nodes write a volume, as far as what was collected after an incident shows it? */
import type { Command } from 'commander';
import { type ExitCode, exitCode, typed, writeOutput } from '../../core/index.ts';
import { mysql } from '../../mysql/index.ts';
import {
  type Inspection,
  inspectFolder,
  inspectionText,
  renderInspectionHtml,
} from '../../probe/index.ts';
import { type DiskMode, diskModes } from '../../scenario/index.ts';
import { commandLine, exits, tell } from '../command.ts';
import { oneOf, outputFile } from '../flags/flag-values.ts';

interface InspectFlags {
  readonly volume?: string;
  readonly disk?: DiskMode;
  readonly html?: string;
  readonly redact?: string;
  readonly json: boolean;
}

const codes: Readonly<Record<Inspection['answer'], ExitCode>> = {
  'two could write': exitCode.unexpected,
  'only one could': exitCode.expected,
  'cannot be told': exitCode.inconclusive,
};

export const inspect = (): Command =>
  commandLine(typed('inspect'), [
    ['answer for every volume in the records', 'incident/'],
    ['one claim, as a page', 'incident/ --volume shop/data-mysql-0 --html incident.html'],
    ['with a copy of the records that can be sent', 'incident/ --redact incident-redacted/'],
    ['with what a probe measured of its storage', 'incident/ --disk unfenced'],
  ])
    .description(
      'Reads the logs and dumps of an incident and answers: two could write, only one could, or\n' +
        'cannot be told. Sends nothing. Exits with 1, 0 or 3.',
    )
    .argument('<folder>', 'audit log, kubectl dumps, logs; docs/how-to/inspect.md lists them')
    .option('--volume <name>', 'a PersistentVolume, or namespace/claim; default: all')
    .addOption(
      oneOf(
        '--disk <mode>',
        'what the storage does at a detach; default: by its documents',
        diskModes,
      ),
    )
    .option('--html <file>', 'also write the answer as a page', outputFile)
    .option('--redact <folder>', 'also make this folder: the records, with all names replaced')
    .option('--json', 'print the answer as JSON', false)
    .action(exits(answer));

async function answer(folder: string, flags: InspectFlags): Promise<ExitCode> {
  const { volume, disk, html, redact, json } = flags;
  const found = await inspectFolder({ folder, volume, disk, redact, database: mysql });
  if (html !== undefined) writeOutput(html, await renderInspectionHtml(found));
  tell(
    json
      ? JSON.stringify({ ...found, clocks: Object.fromEntries(found.clocks) }, undefined, 2)
      : inspectionText(found),
  );
  return codes[found.answer];
}
