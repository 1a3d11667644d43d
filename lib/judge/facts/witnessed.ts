/** Tables of facts, each with its witnesses: what they contradict each other in, and the reason that it gives. */
import { z } from 'zod';
import { type Immutable, toldInSeconds } from '../../core/index.ts';
import { type Contradiction, type Span, type Testimony, contradictionsOf } from './engine.ts';

/** Why something is not known, or not as it has to be. The words come last, and nothing reads them back. */
export const reasonSchema = z.object({
  code: z.string(),
  fields: z.record(z.string(), z.union([z.string(), z.number()])),
  words: z.string(),
});
export type Reason = Immutable<z.output<typeof reasonSchema>>;

export const because = (code: string, words: string, fields: Reason['fields'] = {}): Reason => ({
  ...{ code, fields, words },
});

/** What one witness states of one fact. */
export interface Witnessed<Evidence> extends Pick<Testimony, 'lateMs' | 'earlyMs' | 'slack'> {
  /** Undefined where there is no such witness of it. */
  readonly read: (
    evidence: Evidence,
  ) => (Pick<Testimony, 'statements' | 'otherwise'> & Partial<Pick<Testimony, 'sees'>>) | undefined;
}

export interface FactRow<Witness extends string, Row> {
  /** What an item is asked for, in a sentence. */
  readonly about: string;
  readonly witnesses: Readonly<Partial<Record<Witness, Row>>>;
}

type Table<Name extends string, Witness extends string, Evidence> = Readonly<
  Record<Name, FactRow<Witness, Witnessed<Evidence>>>
>;

export interface Disagreement<Name extends string, Witness extends string>
  extends Contradiction<Witness> {
  readonly fact: Name;
}

/** `sees`: from when to when, of a witness that does not state it. */
export const testimoniesIn = <Witness extends string, Evidence>(
  { witnesses }: FactRow<Witness, Witnessed<Evidence>>,
  evidence: Evidence,
  sees: Span,
): Testimony<Witness>[] =>
  (Object.entries(witnesses) as [Witness, Witnessed<Evidence>][]).flatMap(
    ([witness, { read, ...exactness }]) => {
      const found = read(evidence);
      return found === undefined ? [] : [{ witness, sees, ...exactness, ...found }];
    },
  );

/** Each pair of witnesses that contradict each other about an item of a fact. */
export const disagreementsOf = <Name extends string, Witness extends string, Evidence>(
  table: Table<Name, Witness, Evidence>,
  evidence: Evidence,
  sees: Span,
  of: readonly Name[],
): Disagreement<Name, Witness>[] =>
  of.flatMap((fact) =>
    contradictionsOf(testimoniesIn(table[fact], evidence, sees)).map((found) => ({
      ...{ fact, ...found },
    })),
  );

/** `whose`: their records, in a sentence. `zeroMs`: the moment that times are counted from. */
export function disagreementReason<Name extends string, Witness extends string>(
  { fact, item, atMs, one, other, count }: Disagreement<Name, Witness>,
  table: Readonly<Record<Name, Pick<FactRow<Witness, unknown>, 'about'>>>,
  whose: Readonly<Record<Witness, string>>,
  zeroMs = 0,
): Reason {
  const times = count === 1 ? '' : `, ${count} times`;
  const words =
    `${table[fact].about} (${item}): ${one.value} by ${whose[one.witness]}, ${other.value} by ` +
    `${whose[other.witness]} at ${toldInSeconds(atMs - zeroMs)}${times}`;
  return because('WITNESSES_DISAGREE', words, {
    ...{ fact, item, atMs: Math.round(atMs - zeroMs), one: one.witness, other: other.witness },
    ...{ valueOfOne: one.value, valueOfOther: other.value, count },
  });
}
