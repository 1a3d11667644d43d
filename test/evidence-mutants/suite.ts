/** Makes each mutant of the evidence, proves that it differs from its twin, and asks for its verdict. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { assembleVerdict } from '../../lib/judge/verdict/assemble.ts';
import type { VerdictWord } from '../../lib/judge/verdict/verdict.ts';
import { EvidenceError } from '../../lib/core/errors.ts';
import { type History, openHistory } from '../../lib/history/reader.ts';
import { runSegment } from '../../lib/history/recorder.ts';
import type { HistoryRecord, SmallRecord } from '../../lib/history/records.ts';
import { migrateRecord } from '../../lib/history/migration.ts';
import { otherFiles } from '../../lib/history/seals.ts';
import { openWrites } from '../../lib/history/writes.ts';
import { holdBase, pairedBases, type BaseName } from './bases.ts';
import { type Attack, holdsOn } from './attacks.ts';
import { faultAt } from './edit.ts';
import type { PairAttack, PairName } from './pairs.ts';
import { type Testimony, contradictionsOf } from '../../lib/judge/facts/engine.ts';
import { type Evidence, evidenceOf } from '../../lib/judge/facts/evidence.ts';
import { servedMeter } from '../../lib/judge/facts/served.ts';
import { type FactName, factNames, testimoniesOf } from '../../lib/judge/facts/table.ts';
import { measure } from '../../lib/judge/timeline/clients.ts';
import { judgeGroup } from '../../lib/judge/group/judge-group.ts';
import { isGroupRun, tellGroupStory } from '../../lib/judge/group/story.ts';
import { tellStory } from '../../lib/judge/timeline/story.ts';
import { copyOf, writeFiles, writeRun, type HeldRun, type WrittenRun } from './held-run.ts';
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

export interface PairResult extends AttackResult {
  readonly kind: string;
  /** Those of which both witnesses state something else. */
  readonly pairs: readonly PairName[];
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
  readonly written: WrittenRun;
  readonly history: History;
  readonly evidence: Same;
  readonly digest: string;
  readonly testimonies: (fact: FactName) => readonly Testimony[];
}

/** Folders of all threads of this process begin so. */
const scratchName = `forcedetach-evidence-${process.pid}-`;

/** A thread that is ended leaves its own. */
export function removeScratch(): void {
  for (const name of readdirSync(tmpdir())) {
    if (name.startsWith(scratchName)) rmSync(join(tmpdir(), name), { recursive: true });
  }
}

export class EvidenceSuite implements Disposable {
  readonly #scratch = mkdtempSync(join(tmpdir(), scratchName));
  readonly #twins = new Map<BaseName, Twin>();
  readonly #held = new Map<BaseName, HeldRun>();
  #made = 0;

  mutant({ name, base, right, alter, files, damage }: EvidenceMutant): MutantResult {
    const twin = this.#twin(base);
    const folder = join(this.#scratch, `mutant-${(this.#made += 1)}`);
    const run = copyOf(twin.held);
    alter?.(run);
    writeRun(run, folder, { ...(files && { alterFiles: files }), like: twin.written });
    damage?.(join(folder, 'history'));
    const proven = digestOf(folder) !== twin.digest;
    const said = wordOf(folder);
    rmSync(folder, { recursive: true });
    const caught = proven && right.includes(said);
    return { ...{ name, base, right, said, proven, caught }, resealed: damage === undefined };
  }

  /** `donor`: whose records may be swapped in. */
  attack(attack: Attack, donor: BaseName): AttackResult {
    const { name, base, isHarmless } = attack;
    return (
      this.#altered(attack, donor, (twin, altered) => {
        const { word, reasons } = judged(altered.open);
        const isLie = attack.isLie ?? (reasons.length === 0 && liesIn(twin, altered).length > 0);
        const fate = fateOf({ isHarmless, isLie, word, reasons }, twin.said);
        return { name, base, fate, word, reasons: reasons.slice(0, 3) };
      }) ?? { name, base, fate: 'void', word: this.#twin(base).said, reasons: [] }
    );
  }

  /** On the first history, from the `n`th on, on which both witnesses lie of one item. Undefined where none is. */
  pair(attack: PairAttack, n: number): PairResult | undefined {
    for (const at of pairedBases.keys()) {
      const base = pairedBases[(n + at) % pairedBases.length];
      const found = base && this.#pairOn(attack, base);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #pairOn(attack: PairAttack, base: BaseName): PairResult | undefined {
    return this.#altered({ ...attack, base }, donorFor(base), (twin, altered) => {
      const lies = liesIn(twin, altered, new Set(attack.pairs.map(factOf)));
      const pairs = attack.pairs.filter((pair) => isPairOf(pair, lies));
      if (pairs.length === 0) return undefined;
      const { word, reasons } = judged(altered.open);
      const fate = fateOf({ isHarmless: false, isLie: true, word, reasons }, twin.said);
      const about = { name: `${attack.name} on ${base}`, base, kind: attack.kind, pairs };
      return { ...about, fate, word, reasons: reasons.slice(0, 3) };
    });
  }

  /** Undefined where the attack alters nothing. Clients' journals are written anew, and all their seals. */
  #altered<Found>(
    { base, alter, files }: Pick<Attack, 'base' | 'alter' | 'files'>,
    donor: BaseName,
    ask: (twin: Twin, altered: AlteredRun) => Found,
  ): Found | undefined {
    const twin = this.#twin(base);
    const other = this.#heldOf(donor);
    const folder = join(this.#scratch, `attack-${(this.#made += 1)}`);
    const run = copyOf(twin.held);
    alter?.(run, other);
    const changed = [...run.segments.keys()].filter(
      (name) => run.segments.get(name)?.records !== twin.held.segments.get(name)?.records,
    );
    if (files === undefined && changed.length === 0) return undefined;
    const donorDirectory = join(other.folder, 'history');
    const faults = { ownMs: faultAt(run), donorMs: faultAt(other) };
    const alterFiles = files && {
      alterFiles: (directory: string): void => files(directory, donorDirectory, faults),
    };
    const isRunners = changed.every((name) => name === runSegment);
    const { log, served } = twin.evidence;
    const same = { ...(files === undefined && { log }), ...(isRunners && { served }) };
    try {
      if (isRunners) {
        const isSame = isDeepStrictEqual(run.segments, twin.held.segments);
        if (files === undefined && isSame) return undefined;
        const beside = alterFiles && filesBeside(run, folder, alterFiles.alterFiles);
        const history = heldHistory(twin, run, beside);
        return ask(twin, { open: () => history, same });
      }
      writeRun(run, folder, { ...alterFiles, like: twin.written });
      if (digestOf(folder) === twin.digest) return undefined;
      return ask(twin, { open: () => openHistory(folder), same });
    } finally {
      rmSync(folder, { recursive: true, force: true });
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

  #heldOf(base: BaseName): HeldRun {
    const held = this.#held.get(base) ?? holdBase(base);
    this.#held.set(base, held);
    return held;
  }

  #makeTwin(base: BaseName): Twin {
    const held = this.#heldOf(base);
    const folder = join(this.#scratch, `twin-${base}`);
    const written = writeRun(copyOf(held), folder);
    const [before, said] = [wordOf(held.folder), wordOf(folder)];
    const digest = digestOf(folder);
    const history = openHistory(folder);
    const evidence = evidenceIn(() => history);
    const stated = new Map(
      factNames.map((fact) => [fact, evidence === undefined ? [] : testimoniesOf(evidence, fact)]),
    );
    const testimonies = (fact: FactName): readonly Testimony[] => stated.get(fact) ?? [];
    const about = { base, held, history, written, evidence: evidence ?? {}, digest, testimonies };
    return { ...about, before, said, flagged: before !== said };
  }
}

/** Whose records are swapped in: a history of another verdict. */
export const donorFor = (base: BaseName): BaseName =>
  base === 'group' ? 'otherGroup' : base === 'fenced' ? 'damaged' : 'fenced';

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

/** Both witnesses state something else of one item. */
function isPairOf(pair: PairName, lies: readonly Lie[]): boolean {
  const fact = factOf(pair);
  const [, both = ''] = pair.split('/');
  const [one, other] = both
    .split('+')
    .map((witness) => lies.filter((lie) => lie.fact === fact && lie.witness === witness));
  return one?.some(({ item }) => other?.some((lie) => lie.item === item)) ?? false;
}

const factOf = (pair: PairName): FactName => pair.split('/')[0] as FactName;

interface Lie {
  readonly fact: FactName;
  readonly witness: string;
  readonly item: string;
}

/** What a witness states otherwise than in the twin, by more than it may be off, or not any more. */
function liesIn(
  twin: Twin,
  { open, same }: AlteredRun,
  of: Iterable<FactName> = holdsOn(twin.base),
): Lie[] {
  const after = evidenceIn(open, same);
  return [...of].flatMap((fact) => {
    const was = twin.testimonies(fact);
    const now = after === undefined ? [] : testimoniesOf(after, fact);
    // No pair of them can tell what any of them may be off.
    const lateMs = Math.max(...was.map((each) => each.lateMs));
    const earlyMs = Math.max(...was.map((each) => each.earlyMs));
    return was.flatMap((testimony): Lie[] => {
      const { witness } = testimony;
      const altered = now.find((each) => each.witness === witness);
      const left = new Set(altered?.statements.map(({ item }) => item));
      const gone = testimony.statements.map(({ item }) => item).filter((item) => !left.has(item));
      const both = [testimony, altered].flatMap((each) =>
        each === undefined ? [] : [{ ...each, lateMs, earlyMs }],
      );
      const items = new Set([...gone, ...contradictionsOf(both).map(({ item }) => item)]);
      return [...items].map((item) => ({ fact, witness, item }));
    });
  });
}

/** What the alteration left as it was needs not be read again. */
type Same = Partial<Pick<Evidence, 'log' | 'served'>>;

interface AlteredRun {
  /** Throws EvidenceError where it is refused. */
  readonly open: () => History;
  readonly same: Same;
}

/** The twin's with other records of the runner's, and other files beside. */
function heldHistory(
  { history }: Twin,
  { segments }: HeldRun,
  files?: Pick<History, 'files' | 'writes'>,
): History {
  const small = [...segments.values()]
    .flatMap(({ records }) => records.filter(isSmall))
    .map(migrateRecord)
    // Its list is made again as well.
    .map((record) =>
      record.type === 'segments' && files ? { ...record, files: files.files } : record,
    )
    .toSorted((a, b) => a.t - b.t);
  return { ...history, ...files, smallRecords: () => small.values() as Generator<SmallRecord> };
}

function filesBeside(
  run: HeldRun,
  folder: string,
  alterFiles: (directory: string) => void,
): Pick<History, 'files' | 'writes'> {
  const directory = writeFiles(run, folder, alterFiles);
  return { files: otherFiles(directory), writes: () => openWrites(folder) };
}

const isSmall = (record: HistoryRecord): record is SmallRecord =>
  !['row', 'invoke', 'outcome'].includes(record.type);

/** Undefined where it is refused. */
function evidenceIn(open: AlteredRun['open'], same: Same = {}): Evidence | undefined {
  try {
    const history = open();
    const records = [...history.smallRecords()];
    const story = (isGroupRun(records) ? tellGroupStory : tellStory)(records, mysql);
    const read = evidenceOf(
      story,
      'log' in same ? undefined : history.writes(),
      same.served ?? servedIn(history),
    );
    return { ...read, ...same };
  } catch (error) {
    if (error instanceof EvidenceError) return undefined;
    throw error;
  }
}

function servedIn(history: History): Evidence['served'] {
  const served = servedMeter();
  measure(history.answers(), [served]);
  return served.result();
}

const wordOf = (folder: string): VerdictWord => judged(() => openHistory(folder)).word;

/** A history that is refused as damaged proves nothing: that is inconclusive. */
function judged(open: AlteredRun['open']): {
  readonly word: VerdictWord;
  readonly reasons: readonly string[];
} {
  try {
    const history = open();
    const judge = isGroupRun(history.smallRecords()) ? judgeGroup : assembleVerdict;
    const verdict = judge(history, { database: mysql });
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
