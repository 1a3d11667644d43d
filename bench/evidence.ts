/**
 * Attacks on the evidence of real histories, made from the table of facts, and what the verdict made of them:
 * `facts`, `witnesses`, `attacks`, `caught`, `trusted`, `twinsFlagged`; of two witnesses at once `pairs`; of
 * records that no fact is read from `records`; and `kinds` that were planted by hand, with `kindsCaught`. Needs
 * nothing but this checkout. `--count n`: so many attacks, evenly drawn, a sixth as many of pairs and a tenth of
 * records. Exit code 1 where one escapes that is not on the list of what is trusted.
 */
import { isMainThread } from 'node:worker_threads';
import { answerTasks, WorkerPool } from '../lib/core/program.ts';
import { factNames, facts } from '../lib/judge/facts/table.ts';
import { attacksOf } from '../test/evidence-mutants/attacks.ts';
import {
  attackedBases,
  type BaseName,
  bases,
  pairedBases,
} from '../test/evidence-mutants/bases.ts';
import { evidenceMutants } from '../test/evidence-mutants/kinds/index.ts';
import { pairAttacks } from '../test/evidence-mutants/pairs.ts';
import { recordAttacks } from '../test/evidence-mutants/record-attacks.ts';
import {
  type AttackResult,
  EvidenceSuite,
  type MutantResult,
  type PairResult,
  type TwinResult,
  donorFor,
  removeScratch,
} from '../test/evidence-mutants/suite.ts';
import { isTrusted, trustedPairs } from '../test/evidence-mutants/trusted.ts';
import type { BenchContext, BenchResult } from './support/bench.ts';

/** By its place in its list. */
interface Task {
  readonly what: keyof typeof lists;
  readonly index: number;
}
/** Undefined: a pair that lies on none of its histories. */
type Answer = AttackResult | PairResult | MutantResult | TwinResult | undefined;

const lists = {
  attack: attacksOf(attackedBases),
  record: recordAttacks(),
  pair: pairAttacks(),
  kind: evidenceMutants,
  twin: attackedBases.map((base) => ({ base })),
};

/** Evenly drawn. Default all. */
const drawn = (all: number, count = all): number[] =>
  Array.from({ length: count }, (_, n) => Math.floor((n * all) / count));

export default async function bench({ onProgress, count }: BenchContext): Promise<BenchResult> {
  using left = new DisposableStack();
  left.defer(removeScratch);
  await using one = new WorkerPool<Task, Answer>(new URL(import.meta.url), 1);
  await using other = new WorkerPool<Task, Answer>(new URL(import.meta.url), 1);
  const ask = async (task: Task): Promise<Answer> => {
    // A thread reads a history once: what is asked of it goes to the same one.
    const pool = Object.keys(bases).indexOf(baseOf(task)) % 2 === 0 ? one : other;
    const result = await pool.run(task);
    if (result !== undefined && !('before' in result)) onProgress(describe(result));
    return result;
  };
  const askAll = async (what: Task['what'], part = 1): Promise<Answer[]> =>
    Promise.all(
      drawn(lists[what].length, count && Math.ceil(count * part)).map(async (index) =>
        ask({ what, index }),
      ),
    );
  const [attacked, recorded, played, kinds, twins] = (await Promise.all([
    askAll('attack'),
    askAll('record', 1 / 10),
    askAll('pair', 1 / 6),
    count === undefined ? askAll('kind') : [],
    Promise.all(lists.twin.map(async (_, index) => ask({ what: 'twin', index }))),
  ])) as [AttackResult[], AttackResult[], (PairResult | undefined)[], MutantResult[], TwinResult[]];
  const paired = played.filter((each) => each !== undefined);
  const score = {
    facts: factNames.length,
    witnesses: new Set(factNames.flatMap((fact) => Object.keys(facts[fact].witnesses))).size,
    ...scoreOf(attacked),
    records: scoreOf(recorded),
    pairs: { drawn: played.length, of: lists.pair.length, ...scoreOfPairs(paired) },
    twins: twins.length,
    twinsFlagged: twins.filter((twin) => twin.flagged).length,
    kinds: kinds.length,
    kindsCaught: kinds.filter(({ caught }) => caught).length,
  };
  return {
    ok:
      [score, score.records, score.pairs].every(({ escaped }) => escaped.length === 0) &&
      score.flagged.length + score.twinsFlagged === 0 &&
      (count !== undefined || score.pairs.stale.length === 0) &&
      score.kinds === score.kindsCaught,
    lines: [JSON.stringify(score)],
    data: { ...score, twinsSaid: twins, results: [...attacked, ...recorded, ...paired, ...kinds] },
  };
}

function scoreOf(results: readonly AttackResult[]) {
  const namesOf = (fate: AttackResult['fate']): string[] =>
    results.filter((each) => each.fate === fate).map(({ name }) => name);
  const survived = namesOf('survived');
  const escaped = survived.filter((name) => !isTrusted(name));
  return {
    attacks: results.length - namesOf('void').length,
    caught: namesOf('caught').length,
    trusted: survived.length - escaped.length,
    ...{ escaped, flagged: namesOf('flagged'), void: namesOf('void').length },
  };
}

/** `stale`: what is trusted, though none of these attacks needs it. */
function scoreOfPairs(results: readonly PairResult[]) {
  const survived = results.filter(({ fate }) => fate === 'survived');
  const lies = survived.flatMap(({ pairs: of, kind, name }) =>
    of.map((pair) => ({ name, lie: `${pair} ${kind}` })),
  );
  const listed = new Set(
    Object.entries(trustedPairs).flatMap(([pair, kinds]) => kinds.map((kind) => `${pair} ${kind}`)),
  );
  const needed = new Set(lies.map(({ lie }) => lie));
  const escaped = lies.filter(({ lie }) => !listed.has(lie));
  return {
    attacks: results.length,
    caught: results.filter(({ fate }) => fate === 'caught').length,
    trusted: survived.length - new Set(escaped.map(({ name }) => name)).size,
    escaped: escaped.map(({ name, lie }) => `${lie}: ${name}`),
    stale: [...listed].filter((lie) => !needed.has(lie)),
  };
}

const describe = (result: AttackResult | MutantResult): string =>
  'fate' in result
    ? `${result.name}: ${result.word}, ${result.fate}`
    : `${result.name} on ${result.base}: ${result.said}, ${result.caught ? 'caught' : 'NOT CAUGHT'}`;

function itemOf<T>(list: readonly T[], index: number): T {
  const item = list[index];
  if (item === undefined) throw new Error(`there is no task ${index} of ${list.length}`);
  return item;
}

/** Of a pair the first one that it is tried on. */
const baseOf = ({ what, index }: Task): BaseName =>
  what === 'pair'
    ? itemOf(pairedBases, index % pairedBases.length)
    : itemOf<{ readonly base: BaseName }>(lists[what], index).base;

if (!isMainThread) {
  const suite = new EvidenceSuite();
  answerTasks(({ what, index }: Task): Answer => {
    if (what === 'pair') return suite.pair(itemOf(lists.pair, index), index);
    if (what === 'kind') return suite.mutant(itemOf(lists.kind, index));
    if (what === 'twin') return suite.twin(itemOf(lists.twin, index).base);
    const attack = itemOf(lists[what], index);
    return suite.attack(attack, donorFor(attack.base));
  });
}
