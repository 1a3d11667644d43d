/** The real histories that mutants are copies of, one of each verdict. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EvidenceError } from '../../lib/core/errors.ts';
import { corpusRun } from '../support/committed.ts';
import { holdRun, type HeldRun } from './held-run.ts';

const samples = fileURLToPath(new URL('../../reports/samples/', import.meta.url));

export const bases = {
  fenced: 'partition-force-delete-fenced',
  untouched: 'partition-none',
  crash: 'node-crash',
  damaged: 'partition-force-delete-unfenced',
  lost: 'node-crash-trx-commit-2',
  zombie: 'zombie',
  fencedLate: 'partition-out-of-service',
} as const;
export type BaseName = keyof typeof bases;
export const attackedBases = Object.keys(bases) as BaseName[];

/** One of each fault, one of each verdict. */
export const pairedBases: readonly BaseName[] = ['fenced', 'crash', 'zombie', 'lost'];

/** Throws EvidenceError `BASE_OUTDATED` where a sample lacks evidence that is asked for today. */
export function holdBase(name: BaseName): HeldRun {
  const base = bases[name];
  const held = holdRun(base === 'partition-none' ? corpusRun(base) : join(samples, base));
  if (held.story.run.schemaVersion >= 3) return held;
  throw new EvidenceError('BASE_OUTDATED', `${bases[name]} is of an older version of the history`, {
    hint: 'run the samples anew: reports/samples/README.md',
  });
}
