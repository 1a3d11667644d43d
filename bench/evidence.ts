/**
 * Alters real histories, one kind at a time, and counts what the verdict made of it: `kinds`,
 * `caught`, `twinsFlagged`. Needs nothing but this checkout. Exit code 1 where a kind escapes.
 */
import { evidenceMutants } from '../test/evidence-mutants/kinds/index.ts';
import { EvidenceSuite, type MutantResult } from '../test/evidence-mutants/suite.ts';
import type { BenchContext, BenchResult } from './support/bench.ts';

export default async function bench({ onProgress }: BenchContext): Promise<BenchResult> {
  using suite = new EvidenceSuite();
  const results: MutantResult[] = [];
  for (const mutant of evidenceMutants) {
    const result = suite.mutant(mutant);
    if (!result.caught) onProgress(describe(result));
    results.push(result);
  }
  const bases = [...new Set(evidenceMutants.map(({ base }) => base))];
  const twins = bases.map((base) => suite.twin(base));
  const score = {
    kinds: results.length,
    resealed: results.filter(({ resealed }) => resealed).length,
    caught: results.filter(({ caught }) => caught).length,
    twins: twins.length,
    twinsFlagged: twins.filter(({ flagged }) => flagged).length,
  };
  return {
    ok: score.kinds >= 80 && score.caught === score.kinds && score.twinsFlagged === 0,
    lines: results.map(describe).concat(JSON.stringify(score)),
    data: { ...score, twinsSaid: twins, mutants: results },
  };
}

function describe({ name, base, right, said, proven, caught }: MutantResult): string {
  const found = caught ? 'caught' : `NOT CAUGHT, right: ${right.join(' or ')}`;
  return `${name} (${base}): ${proven ? '' : 'NO CHANGE, '}${said}, ${found}`;
}
