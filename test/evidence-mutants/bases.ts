/** The real histories that mutants are copies of, one of each verdict, and of groups. */
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
  group: 'group-partition',
  otherGroup: 'group-freeze',
} as const;
export type BaseName = keyof typeof bases;
export const isGroupBase = (name: BaseName): boolean => name === 'group' || name === 'otherGroup';
/** Of the other group records are swapped in. */
export const attackedBases = (Object.keys(bases) as BaseName[]).filter(
  (name) => name !== 'otherGroup',
);

/** One of each fault, one of each verdict. */
export const pairedBases: readonly BaseName[] = ['fenced', 'crash', 'zombie', 'lost'];

/** Throws EvidenceError `BASE_OUTDATED` where a sample lacks evidence that is asked for today. */
export function holdBase(name: BaseName): HeldRun {
  const base = bases[name];
  const isPacked = base === 'partition-none' || isGroupBase(name);
  const held = holdRun(isPacked ? corpusRun(base) : join(samples, base));
  if (held.story.run.schemaVersion >= 3 || isGroupBase(name)) return held;
  throw new EvidenceError('BASE_OUTDATED', `${bases[name]} is of an older version of the history`, {
    hint: 'run the samples anew: reports/samples/README.md',
  });
}
