/** Keeps what the suite came to: lines of the store of measurements, and the evidence to judge again. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { judgeCase, type MutantCase } from './mutant-case.ts';
import { evidencePath, packCases, unpackCases } from './recorded.ts';
import { noteLines, type StoredLine } from '../../lib/batch/index.ts';
import { isNoting } from '../../test/support/noting.ts';
import { mutants } from './kinds/index.ts';
import type { Mutant } from './mutant.ts';
import type { MutantResult } from './run-mutant.ts';
import { seed } from './workshop.ts';

/** What differs from line to line; the versions are those of what wrote the volumes. */
type Measured = Pick<StoredLine, 'kind' | 'id' | 'scenario' | 'outcome' | 'versions'>;

function note(measured: Measured): void {
  if (!isNoting) return;
  const date = new Date().toISOString().slice(0, 10);
  const source = 'npx vitest run --project research research/full/mutants.test.ts';
  noteLines([{ ...measured, seed, basis: 'measured', source, date }]);
}

export function keepMutant(
  { name, shows, base, damageClass }: Mutant,
  result: MutantResult,
  versions: StoredLine['versions'],
): void {
  const { effect, caught, named, codes, recorded } = result;
  note({
    ...{ kind: 'mutant', id: name, versions },
    scenario: { shows, twin: base, className: damageClass.name },
    outcome: {
      ...{ effect: effect.seen, proven: effect.proven, caught, named },
      codes: codes.join(' '),
    },
  });
  keepCase(recorded);
}

/** The smallest loss of the commits of a volume that was seen, and called what it is. */
export const keepSmallestLoss = (
  id: string,
  outcome: { readonly lost: number; readonly of: number },
  versions: StoredLine['versions'],
): void => note({ kind: 'smallest-loss', id, scenario: {}, outcome, versions });

export function keepTwin(recorded: MutantCase, versions: StoredLine['versions']): void {
  const outcome = { flagged: judgeCase(recorded).caught };
  note({ kind: 'clean-twin', id: recorded.name, scenario: {}, outcome, versions });
  keepCase(recorded);
}

const order = mutants.map(({ name }) => name);

function keepCase(recorded: MutantCase): void {
  if (!isNoting) return;
  const cases = existsSync(evidencePath) ? unpackCases(readFileSync(evidencePath)) : [];
  const others = cases.filter(({ name }) => name !== recorded.name);
  const all = [...others, recorded].toSorted(
    (a, b) => order.indexOf(a.name) - order.indexOf(b.name),
  );
  writeFileSync(evidencePath, packCases(all));
}
