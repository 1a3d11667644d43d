/** What a procedure notes, and how its answer is read back from its history: by one schema, both. */
import { z } from 'zod';
import {
  type NoteRecord,
  type Observation,
  type ObservationRecord,
  csiCalls,
  isCall,
  observationsOf,
  type ObservedName,
  type SmallRecord,
} from '../../../lib/history/index.ts';
import { evidenceLine } from '../recorded-run.ts';
import type { ClaimReading } from '../reading.ts';

/** Observer of what a procedure notes, and the word that earlier histories have for a claim. */
export const source = 'claim';
const sources: readonly string[] = [source, 'seed'];

/** What its action is called in a history, and which claim's it is; undefined of another action. */
export const actionOf = (claim: number): string => `claim ${claim}`;
export function claimOf(action: string | undefined): number | undefined {
  const [, number] = /^(?:claim|seed) (\d+)$/.exec(action ?? '') ?? [];
  return number === undefined ? undefined : Number(number);
}

/** One thing that a procedure notes, by its name in the history. */
export interface Note<S extends z.ZodRawShape = z.ZodRawShape> {
  readonly name: string;
  readonly schema: z.ZodObject<S>;
}

export const defineNote = <S extends z.ZodRawShape>(name: string, shape: S): Note<S> => ({
  ...{ name, schema: z.object(shape) },
});

/** What was noted. */
export type Noted<N extends Note> = z.output<N['schema']>;

/** Attachments of a volume, as `Bench.attachments` tells of them. */
export const attachment = z.object({ name: z.string(), node: z.string(), attached: z.boolean() });

/** The history of a procedure. */
export class Notes {
  readonly #observations: readonly ObservationRecord[];
  readonly #notes: readonly NoteRecord[];

  constructor(records: readonly SmallRecord[]) {
    this.#observations = records.filter((record) => record.type === 'observation');
    this.#notes = records.filter((record) => record.type === 'note');
  }

  /** Everything noted under that name, in order. */
  all<S extends z.ZodRawShape>({ name, schema }: Note<S>): z.output<z.ZodObject<S>>[] {
    return this.records(name).flatMap(({ data }) => {
      const read = schema.safeParse(data);
      return read.success ? [read.data] : [];
    });
  }

  /** All notes, or those of that name, as records. */
  records(name?: string): NoteRecord[] {
    const ours = this.#notes.filter(({ source }) => sources.includes(source));
    return ours.filter((note) => name === undefined || note.name === name);
  }

  /** Calls to the driver of that kind, also failed ones. */
  calls(call: keyof typeof csiCalls): Observation<'csi-call'>[] {
    return this.#observations.filter(isCall(csiCalls[call]));
  }

  seen<Name extends ObservedName>(name: Name): Observation<Name>[] {
    return observationsOf(this.#observations, name);
  }
}

interface NotedAnswer {
  readonly asExpected: boolean;
  readonly said: string;
  /** Records that prove it beside the notes. Default: none. */
  readonly records?: readonly ObservationRecord[];
}

type Last<A extends Readonly<Record<string, Note>>> = { readonly [K in keyof A]: Noted<A[K]> };

/** Missing notes mean that the procedure ended early. */
export const endedEarly = 'the procedure ended before it had seen this';

/**
 * Reads the last note of each kind that is asked for. The notes are evidence, with their times in
 * seconds from the procedure's beginning.
 */
export const reading =
  <A extends Readonly<Record<string, Note>>>(
    asked: A,
    tell: (last: Last<A>, notes: Notes) => NotedAnswer | string,
  ): ((records: readonly SmallRecord[]) => ClaimReading) =>
  (records) => {
    const notes = new Notes(records);
    const last = Object.entries(asked).map(([key, each]) => [key, notes.all(each).at(-1)] as const);
    if (last.some(([, noted]) => noted === undefined)) return endedEarly;
    const told = tell(Object.fromEntries(last) as Last<A>, notes);
    if (typeof told === 'string') return told;
    const evidence = [...notes.records(), ...(told.records ?? [])]
      .toSorted((a, b) => a.t - b.t)
      .map((record) => evidenceLine(`${(record.t / 1000).toFixed(1)} s`, record));
    return { asExpected: told.asExpected, said: told.said, evidence };
  };
