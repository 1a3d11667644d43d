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

/** A history that is refused as damaged proves nothing: what its reader is told is inconclusive. */
function wordOf(folder: string): VerdictWord {
  try {
    return assembleVerdict(openHistory(folder), { database: mysql }).verdict;
  } catch (error) {
    if (error instanceof EvidenceError) return 'inconclusive';
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
