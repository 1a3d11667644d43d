/**
 * Attacks on the evidence of real histories, made from the table of facts, and what the verdict made of them:
 * `facts`, `witnesses`, `attacks`, `caught`, `trusted`, `twinsFlagged`; beside them `kinds` that were planted by
 * hand, and `kindsCaught`. Needs nothing but this checkout. `--count n`: so many attacks, evenly drawn. Exit code
 * 1 where one escapes that is not on the list of what is trusted.
 */
import { isMainThread } from 'node:worker_threads';
import { answerTasks, WorkerPool } from '../lib/core/program.ts';
import { factNames, facts } from '../lib/judge/facts/table.ts';
import { attacksOf } from '../test/evidence-mutants/attacks.ts';
import { attackedBases } from '../test/evidence-mutants/bases.ts';
import { evidenceMutants } from '../test/evidence-mutants/kinds/index.ts';
import {
  type AttackResult,
  EvidenceSuite,
  type MutantResult,
  donorFor,
} from '../test/evidence-mutants/suite.ts';
import { isTrusted } from '../test/evidence-mutants/trusted.ts';
import type { BenchContext, BenchResult } from './support/bench.ts';

/** By its place in its list. */
interface Task {
  readonly what: 'attack' | 'kind';
  readonly index: number;
}
type Answer = AttackResult | MutantResult;

const attacks = attacksOf(attackedBases);

export default async function bench({ onProgress, count }: BenchContext): Promise<BenchResult> {
  await using pool = new WorkerPool<Task, Answer>(new URL(import.meta.url), 2);
  const ask = async (what: Task['what'], index: number): Promise<Answer> => {
    const result = await pool.run({ what, index });
    onProgress(describe(result));
    return result;
  };
  const step = count === undefined ? 1 : attacks.length / count;
  const chosen = Array.from({ length: count ?? attacks.length }, (_, n) => Math.floor(n * step));
  const attacked = (await Promise.all(
    chosen.map(async (index) => ask('attack', index)),
  )) as AttackResult[];
  const kinds = (await Promise.all(
    (count === undefined ? evidenceMutants : []).map(async (_, index) => ask('kind', index)),
  )) as MutantResult[];
  using suite = new EvidenceSuite();
  const twins = attackedBases.map((base) => suite.twin(base));
  const fates = Map.groupBy(attacked, ({ fate }) => fate);
  const survived = fates.get('survived') ?? [];
  const escaped = survived.filter(({ name }) => !isTrusted(name));
  const flagged = fates.get('flagged') ?? [];
  const score = {
    facts: factNames.length,
    witnesses: new Set(factNames.flatMap((fact) => Object.keys(facts[fact].witnesses))).size,
    attacks: attacked.length - (fates.get('void')?.length ?? 0),
    caught: fates.get('caught')?.length ?? 0,
    trusted: survived.length - escaped.length,
    escaped: escaped.map(({ name }) => name),
    void: fates.get('void')?.length ?? 0,
    flagged: flagged.map(({ name }) => name),
    twins: twins.length,
    twinsFlagged: twins.filter((twin) => twin.flagged).length,
    kinds: kinds.length,
    kindsCaught: kinds.filter(({ caught }) => caught).length,
  };
  return {
    ok:
      escaped.length + flagged.length + score.twinsFlagged === 0 &&
      score.kinds === score.kindsCaught,
    lines: [JSON.stringify(score)],
    data: { ...score, twinsSaid: twins, results: [...attacked, ...kinds] },
  };
}

const describe = (result: Answer): string =>
  'fate' in result
    ? `${result.name}: ${result.word}, ${result.fate}`
    : `${result.name} on ${result.base}: ${result.said}, ${result.caught ? 'caught' : 'NOT CAUGHT'}`;

if (!isMainThread) {
  const suite = new EvidenceSuite();
  answerTasks(({ what, index }: Task): Answer => {
    const [attack, kind] = [attacks[index], evidenceMutants[index]];
    if (what === 'attack' && attack !== undefined)
      return suite.attack(attack, donorFor(attack.base));
    if (kind === undefined) throw new Error(`there is no ${what} ${index}`);
    return suite.mutant(kind);
  });
}
