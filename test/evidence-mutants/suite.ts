/** Makes each mutant of the evidence, proves that it differs from its twin, and asks for its verdict. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assembleVerdict } from '../../lib/judge/verdict/assemble.ts';
import type { VerdictWord } from '../../lib/judge/verdict/verdict.ts';
import { EvidenceError } from '../../lib/core/errors.ts';
import { openHistory } from '../../lib/history/reader.ts';
import { holdBase, type BaseName } from './bases.ts';
import type { Attack } from './attacks.ts';
import { contradictionsOf } from '../../lib/judge/facts/engine.ts';
import { type Evidence, evidenceOf } from '../../lib/judge/facts/evidence.ts';
import { servedMeter } from '../../lib/judge/facts/served.ts';
import { factNames, testimoniesOf } from '../../lib/judge/facts/table.ts';
import { tellStory } from '../../lib/judge/timeline/story.ts';
import { copyOf, writeRun, type HeldRun } from './held-run.ts';
import type { EvidenceMutant } from './mutant.ts';
import { mysql } from '../../lib/mysql/database.ts';

export interface MutantResult {
  readonly name: string;
  readonly base: BaseName;
  readonly resealed: boolean;
  /** The altered history's bytes are not the twin's. */
  readonly proven: boolean;
  readonly right: readonly VerdictWord[];
  readonly said: VerdictWord;
  /** Proven, and judged rightly. */
  readonly caught: boolean;
}

/**
 * `void`: the base has no such records, or what is stated of them stays within what its witness may be off.
 * `flagged`: that was noticed although nothing else was to be.
 */
type Fate = 'caught' | 'survived' | 'flagged' | 'void';

export interface AttackResult {
  readonly name: string;
  readonly base: BaseName;
  readonly word: VerdictWord;
  readonly fate: Fate;
  readonly reasons: readonly string[];
}

export interface TwinResult {
  readonly base: BaseName;
  readonly before: VerdictWord;
  readonly said: VerdictWord;
  /** Written anew, and nothing else: its verdict changed. */
  readonly flagged: boolean;
}

interface Twin extends TwinResult {
  readonly held: HeldRun;
  readonly folder: string;
  readonly digest: string;
}

export class EvidenceSuite implements Disposable {
  readonly #scratch = mkdtempSync(join(tmpdir(), 'forcedetach-evidence-'));
  readonly #twins = new Map<BaseName, Twin>();
  #made = 0;

  mutant({ name, base, right, alter, files, damage }: EvidenceMutant): MutantResult {
    const twin = this.#twin(base);
    const folder = join(this.#scratch, `mutant-${(this.#made += 1)}`);
    const run = copyOf(twin.held);
    alter?.(run);
    writeRun(run, folder, files);
    damage?.(join(folder, 'history'));
    const proven = digestOf(folder) !== twin.digest;
    const said = wordOf(folder);
    rmSync(folder, { recursive: true });
    const caught = proven && right.includes(said);
    return { ...{ name, base, right, said, proven, caught }, resealed: damage === undefined };
  }

  /** `donor`: whose records may be swapped in. */
  attack({ name, base, alter, files, isHarmless }: Attack, donor: BaseName): AttackResult {
    const twin = this.#twin(base);
    const other = this.#twin(donor).held;
    const folder = join(this.#scratch, `attack-${(this.#made += 1)}`);
    const run = copyOf(twin.held);
    alter?.(run, other);
    writeRun(run, folder, (directory) => files?.(directory, join(other.folder, 'history')));
    const about = { name, base };
    try {
      if (digestOf(folder) === twin.digest)
        return { ...about, fate: 'void', word: twin.said, reasons: [] };
      const { word, reasons } = judged(folder);
      const fate = fateOf({ isHarmless, isLie: isLie(twin, folder), word, reasons }, twin.said);
      return { ...about, fate, word, reasons: reasons.slice(0, 3) };
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  twin(name: BaseName): TwinResult {
    const { base, before, said, flagged } = this.#twin(name);
    return { base, before, said, flagged };
  }

  [Symbol.dispose](): void {
    rmSync(this.#scratch, { recursive: true });
  }

  #twin(base: BaseName): Twin {
    const known = this.#twins.get(base);
    if (known !== undefined) return known;
    const made = this.#makeTwin(base);
    this.#twins.set(base, made);
    return made;
  }

  #makeTwin(base: BaseName): Twin {
    const held = holdBase(base);
    const folder = join(this.#scratch, `twin-${base}`);
    writeRun(copyOf(held), folder);
    const [before, said] = [wordOf(held.folder), wordOf(folder)];
    const digest = digestOf(folder);
    return { base, held, folder, digest, before, said, flagged: before !== said };
  }
}

/** Whose records are swapped in: a history of another verdict. */
export const donorFor = (base: BaseName): BaseName => (base === 'fenced' ? 'damaged' : 'fenced');

interface Attacked {
  readonly isHarmless: boolean;
  readonly isLie: boolean;
  readonly word: VerdictWord;
  readonly reasons: readonly string[];
}

function fateOf({ isHarmless, isLie, word, reasons }: Attacked, was: VerdictWord): Fate {
  const isNoticed = reasons.length > 0;
  if (isHarmless) return isNoticed || word !== was ? 'flagged' : 'void';
  // What was safe may be exposed beside it, and nothing worse: that would be false damage.
  const isFalse = ['lost', 'corrupt'].includes(word) && word !== was;
  if (isFalse) return 'survived';
  return isNoticed ? 'caught' : isLie ? 'survived' : 'void';
}

/** A witness states something else than it did in the twin, by more than it may be off, or nothing any more. */
function isLie(twin: Twin, folder: string): boolean {
  const [before, after] = [twin.folder, folder].map(evidenceIn);
  if (before === undefined || after === undefined) return true;
  return factNames.some((fact) => {
    const [was, now] = [before, after].map((each) => testimoniesOf(each, fact));
    // No pair of them can tell what any of them may be off.
    const lateMs = Math.max(...(was ?? []).map((each) => each.lateMs));
    const earlyMs = Math.max(...(was ?? []).map((each) => each.earlyMs));
    return (was ?? []).some((testimony) => {
      const altered = now?.find(({ witness }) => witness === testimony.witness);
      if (testimony.statements.length > 0 && (altered?.statements ?? []).length === 0) return true;
      const both = [testimony, altered].flatMap((each) =>
        each === undefined ? [] : [{ ...each, lateMs, earlyMs }],
      );
      return contradictionsOf(both).length > 0;
    });
  });
}

/** Undefined where it is refused. */
function evidenceIn(folder: string): Evidence | undefined {
  try {
    const history = openHistory(folder);
    const story = tellStory([...history.smallRecords()], mysql);
    const served = servedMeter();
    for (const answer of history.answers()) served.see(answer);
    return evidenceOf(story, history.writes(), served.result());
  } catch (error) {
    if (error instanceof EvidenceError) return undefined;
    throw error;
  }
}

const wordOf = (folder: string): VerdictWord => judged(folder).word;

/** A history that is refused as damaged proves nothing: that is inconclusive. */
function judged(folder: string): {
  readonly word: VerdictWord;
  readonly reasons: readonly string[];
} {
  try {
    const verdict = assembleVerdict(openHistory(folder), { database: mysql });
    return { word: verdict.verdict, reasons: verdict.incompleteBecause };
  } catch (error) {
    if (error instanceof EvidenceError) return { word: 'inconclusive', reasons: [error.message] };
    throw error;
  }
}

function digestOf(folder: string): string {
  const directory = join(folder, 'history');
  const hash = createHash('sha256');
  for (const file of readdirSync(directory).toSorted()) {
    hash.update(`${file}\n`).update(readFileSync(join(directory, file)));
  }
  return hash.digest('hex');
}
