/** Seals of a batch: it has a hash of each run's verdict, which has one of the run's history. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { EvidenceError, sealOf, sha256OfFile, typed } from '../core/index.ts';

/** A verdict that something rests on. `folder`: the run's, relative to the batch's. */
export interface CountedRun {
  readonly folder: string;
  readonly verdictSha256?: string | undefined;
}

/** `value`: of the file. Throws EvidenceError `BATCH_ALTERED`. */
export function mustFitItsSeal(value: unknown, path: string): void {
  if (typeof value !== 'object' || value === null) return;
  const seal = 'seal' in value ? value.seal : undefined;
  const isSealed = seal !== undefined || JSON.stringify(value).includes('"verdictSha256":');
  if (!isSealed || sealOf(value) === seal) return;
  throw new EvidenceError('BATCH_ALTERED', `${path} was changed after its batch wrote it`, {
    hint: 'put back the original; the batch’s command with the same --out makes it again',
  });
}

/**
 * Folders of runs whose verdict is not there. Throws EvidenceError `BATCH_ALTERED` where one is not the one
 * that was counted.
 */
export const missingRuns = (batch: string, runs: readonly CountedRun[]): string[] =>
  runs.flatMap(({ folder, verdictSha256: counted }) => {
    const path = join(batch, folder, 'verdict.json');
    if (counted === undefined) return [];
    if (!existsSync(path)) return [folder];
    const found = sha256OfFile(path);
    if (found === counted) return [];
    const command = typed('report', [join(batch, folder)]);
    throw new EvidenceError(
      'BATCH_ALTERED',
      `${path} is not the verdict that its batch counted: SHA-256 ${found}, counted ${counted}`,
      { hint: 'make it again from its history; if it still differs, put back the run', command },
    );
  });

/** Throws EvidenceError `BATCH_ALTERED` where one is missing or is not the one that was counted. */
export function mustHaveItsRuns(batch: string, runs: readonly CountedRun[]): void {
  const [first] = missingRuns(batch, runs);
  if (first === undefined) return;
  const path = join(batch, first, 'verdict.json');
  throw new EvidenceError('BATCH_ALTERED', `${path} is missing, and its batch counted it`, {
    hint: 'put back the folder of the run, or start a new batch in another folder',
  });
}
