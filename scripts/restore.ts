/**
 * `npx node scripts/restore.ts ID | SOURCE | COMMIT:FOLDER`: takes raw records that left the tree out of git's
 * history, into reports/restored/. ID and SOURCE are those of lines in data/measurements.jsonl.
 */
import { exitCodeAfter, tell } from '../lib/cli/command.ts';
import { projectRoot } from '../lib/core/program.ts';
import { exitCode, UsageError } from '../lib/core/errors.ts';
import { allLines } from '../lib/batch/measurements.ts';
import { placesOf, restore } from './restored.ts';

process.exitCode = await exitCodeAfter(() => {
  const [, , name] = process.argv;
  if (name === undefined) {
    throw new UsageError('BAD_FLAG', 'no records were named', {
      hint: 'give an id or a source of a line in data/measurements.jsonl',
      command: 'npx node scripts/restore.ts reports/boundary/reboot-at-force-detach',
    });
  }
  for (const place of placesOf(name, allLines())) {
    tell(restore(projectRoot, place, 'reports/restored'));
  }
  return Promise.resolve(exitCode.expected);
});
