/** What a batch's page takes from the verdict.json of one of its runs. */
import { describeError } from '../../errors.ts';
import { readVerdict, storedVerdict } from '../../experiment/verdict/read-verdict.ts';
import type { RunVerdict } from '../../report/batch/phases.ts';
import { say } from '../command.ts';

const asked = storedVerdict.pick({ phases: true, versions: true });

/** Undefined where the run came to none, or where what it left can't be read, which is told. */
export function readRunVerdict(folder: string): RunVerdict | undefined {
  try {
    return readVerdict(folder, asked);
  } catch (error) {
    say(`left out of the page: ${describeError(error)}`);
    return undefined;
  }
}
