/**
 * Plants every kind of damage in real MySQL volumes and histories, and counts what the audit made
 * of it: `kinds`, `caught`, `named`. Needs root and docker; no cluster. docs/internals/mutants.md.
 */
import type { Finding } from '../lib/judge/verdict/verdict.ts';
import { alarms } from '../research/mutants/damage-class.ts';
import { judgeCase } from '../research/mutants/mutant-case.ts';
import { mutants } from '../research/mutants/kinds/index.ts';
import type { MutantResult } from '../research/mutants/run-mutant.ts';
import { Suite } from '../research/mutants/suite.ts';
import type { BenchContext, BenchResult } from './support/bench.ts';

export default async function bench({ onProgress }: BenchContext): Promise<BenchResult> {
  await using suite = await Suite.start(onProgress);
  const results: MutantResult[] = [];
  for (const mutant of mutants) {
    const result = await suite.mutant(mutant);
    onProgress(describe(result));
    results.push(result);
  }
  const bases = [...new Set(mutants.map(({ base }) => base))];
  const twins = (await Promise.all(bases.map((base) => suite.twin(base)))).map((twin) => {
    const { caught, findings } = judgeCase(twin);
    return { name: twin.name, flagged: caught, codes: alarms(findings) };
  });
  const caught = results.filter(({ effect, caught: found }) => effect.proven && found);
  const score = {
    kinds: results.length,
    caught: caught.length,
    named: caught.filter(({ named }) => named).length,
    twins: twins.length,
    flaggedTwins: twins.filter(({ flagged }) => flagged).length,
  };
  const { kinds, named, flaggedTwins } = score;
  return {
    ok: kinds >= 24 && named === kinds && flaggedTwins === 0,
    lines: results.map(describe).concat(JSON.stringify({ ...score, twinsSaid: twins })),
    data: {
      ...score,
      twinsSaid: twins,
      mutants: results.map(({ recorded, ...told }) =>
        told.named ? told : { ...told, said: damageIn(recorded) },
      ),
    },
  };
}

/** What a wrong name rests on: a round takes twenty minutes, and another one may not show it again. */
const damageIn = (recorded: MutantResult['recorded']): readonly Finding[] =>
  judgeCase(recorded).findings.filter(({ level }) => level !== 'note');

function describe({ name, effect, caught, named, codes }: MutantResult): string {
  const proven = effect.proven ? '' : 'NOT PROVEN ';
  const found = caught ? `caught${named ? ' and named' : ', NOT NAMED'}` : 'NOT CAUGHT';
  return `${name}: ${proven}(${effect.seen}) ${found}: ${codes.join(' ')}`;
}
