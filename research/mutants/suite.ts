/** Runs mutants, each beside its clean twin, which is made and audited once. */
import { mysql } from '../../lib/mysql/index.ts';
import { versionsOf, type StoredLine } from '../../lib/batch/index.ts';
import type { MutantCase } from './mutant-case.ts';
import { makeBase, type Base, type BaseName } from './bases.ts';
import type { Mutant } from './mutant.ts';
import { runMutant, runTwin, type MutantResult } from './run-mutant.ts';
import { Workshop } from './workshop.ts';

interface Made {
  readonly base: Base;
  readonly twin: MutantCase;
}

export class Suite implements AsyncDisposable {
  readonly #workshop: Workshop;
  readonly #made = new Map<BaseName, Promise<Made>>();

  private constructor(workshop: Workshop) {
    this.#workshop = workshop;
  }

  static async start(onProgress: (line: string) => void): Promise<Suite> {
    return new Suite(await Workshop.start(onProgress));
  }

  async twin(name: BaseName): Promise<MutantCase> {
    return (await this.#make(name)).twin;
  }

  async mutant(mutant: Mutant): Promise<MutantResult> {
    const { base, twin } = await this.#make(mutant.base);
    return runMutant(this.#workshop, base, twin, mutant);
  }

  /** Versions of what writes the volumes. */
  async versions(): Promise<StoredLine['versions']> {
    return versionsOf({ [mysql.name]: await this.#workshop.host.sh('mysqld --version') });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#workshop[Symbol.asyncDispose]();
  }

  #make(name: BaseName): Promise<Made> {
    const made = this.#made.get(name) ?? this.#makeNow(name);
    this.#made.set(name, made);
    return made;
  }

  async #makeNow(name: BaseName): Promise<Made> {
    const base = await makeBase(this.#workshop, name);
    return { base, twin: await runTwin(this.#workshop, base) };
  }
}
