/** Keeps what the suite came to: docs/internals/mutants.json and its page, and the evidence to judge again. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { judgeCase, type MutantCase } from './mutant-case.ts';
import { evidencePath, packCases, unpackCases } from './recorded.ts';
import { writeOutput } from '../../lib/output-file.ts';
import {
  measuredPath,
  measuredSchema,
  readMeasuredMutants,
  type MeasuredMutants,
  type MutantRow,
} from '../../lib/report/mutant-score.ts';
import { isNoting } from '../support/noting.ts';
import { mutants } from './kinds/index.ts';
import type { Mutant } from './mutant.ts';
import { writePage } from './page.ts';
import type { MutantResult } from './run-mutant.ts';

const writeMeasured = (measured: MeasuredMutants): void =>
  writeOutput(measuredPath, `${JSON.stringify(measuredSchema.parse(measured), undefined, 2)}\n`);

const order = mutants.map(({ name }) => name);
const byOrder = (a: { name: string }, b: { name: string }): number =>
  order.indexOf(a.name) - order.indexOf(b.name);

/** Puts one in the place of the one of that name. */
const replaced = <T extends { readonly name: string }>(all: readonly T[], one: T): T[] =>
  [...all.filter(({ name }) => name !== one.name), one].toSorted(byOrder);

export function keepMutant({ name, shows, base, damageClass }: Mutant, result: MutantResult): void {
  if (!isNoting) return;
  const { effect, caught, named, codes, recorded } = result;
  const about = { name, shows, twin: base, className: damageClass.name };
  const row: MutantRow = {
    ...{ ...about, effect: effect.seen, proven: effect.proven, caught, named },
    codes: codes.join(' '),
  };
  const measured = readMeasuredMutants();
  const measuredOn = new Date().toISOString().slice(0, 10);
  writeMeasured({ ...measured, measuredOn, mutants: replaced(measured.mutants, row) });
  writePage();
  keepCase(recorded);
}

/** The smallest loss of the commits of a volume that was seen, and called what it is. */
export function keepSmallestLoss(lost: number, of: number): void {
  if (!isNoting) return;
  writeMeasured({ ...readMeasuredMutants(), smallestLoss: { lost, of } });
  writePage();
}

export function keepTwin(recorded: MutantCase): void {
  if (!isNoting) return;
  const { name } = recorded;
  const measured = readMeasuredMutants();
  const twins = replaced(measured.twins, { name, flagged: judgeCase(recorded).caught });
  writeMeasured({ ...measured, twins });
  keepCase(recorded);
}

function keepCase(recorded: MutantCase): void {
  const cases = existsSync(evidencePath) ? unpackCases(readFileSync(evidencePath)) : [];
  writeFileSync(evidencePath, packCases(replaced(cases, recorded)));
}
