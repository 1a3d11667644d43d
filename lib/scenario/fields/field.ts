/**
 * A field of a scenario, declared once, by its owner. The record, the written form, flags, help, the
 * JSON Schema and the reference page follow from it.
 */
import { z } from 'zod';
import {
  type Capability,
  formatDuration,
  longestMs,
  type When,
  type WhenEvent,
} from '../../core/index.ts';
import { oneOf, type Swept } from './swept.ts';
import { durationText, numberText, secondsText, writtenTime, type Time } from './texts.ts';

export interface Field<
  Schema extends z.ZodType = z.ZodType,
  At extends string = string,
  Written = unknown,
  Of extends string = string,
> {
  /** Where it is written: `fault.down`. Without a dot: a fact of the whole run, which no file sets. */
  readonly at: At;
  /** In a scenario's record, with the default where it has one. */
  readonly schema: Schema;
  /** The default; undefined where there is none. */
  readonly stock: unknown;
  /** From what people write to what is recorded. */
  readonly written: z.ZodType<unknown, Written>;
  /** For the help and for the page. */
  readonly about: string;
  /** For the page alone; Markdown. */
  readonly more?: string | undefined;
  /** The kinds of its group that it does something with. Default: all. */
  readonly of?: readonly Of[] | undefined;
  /** The field whose values these kinds are. Default: the one that is called as the group. */
  readonly head?: string | undefined;
  /** With other kinds it is no mistake in a record: older ones say it. */
  readonly isHarmless?: boolean | undefined;
  /** What it takes of a cluster where it is not at its default. Default: nothing. */
  readonly needs?: Capability | undefined;
  /** The part of a value that takes it, as text; undefined: none. Default: all of it. */
  readonly needing?: ((value: unknown, record: SaidFields) => string | undefined) | undefined;
  /** Default: no flag sets it. */
  readonly flag?: Flag | undefined;
  /** Absent: a sweep leaves it at its default. */
  readonly swept?: Swept | undefined;
  /** A record that does not say it means the default, and says nothing else so. */
  readonly isSparse?: true;
  /** Text as it is typed. */
  readonly show: (value: unknown) => string;
}

/** A record, by the names of its fields. */
export type SaidFields = Readonly<Record<string, unknown>>;

export interface Flag {
  /** Flags as commander takes them: `--flap-down <time>`. */
  readonly flags: string;
  /** From the word behind it. Absent: it has none, or one of the choices. */
  readonly text?: z.ZodType<unknown, string> | undefined;
  readonly choices?: readonly string[] | undefined;
}

export type Fields = Readonly<Record<string, Field>>;

/** The schemas of a record's fields. */
type Shape<F extends Fields> = { [Name in keyof F]: F[Name]['schema'] };
export const shapeOf = <F extends Fields>(fields: F): Shape<F> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, { schema }]) => [name, schema]),
  ) as Shape<F>;

/** What an owner declares of any field. */
export interface Said<Of extends string = string>
  extends Pick<
    Field<z.ZodType, string, unknown, Of>,
    'about' | 'more' | 'of' | 'isHarmless' | 'needs' | 'needing'
  > {
  /** Its flag, where that is older than the rule (`flagNameOf`). */
  readonly flag?: string;
  /** The word behind the flag, in the help. Default: n, or kind where there are choices. */
  readonly value?: string;
}

/** `disk.cutAfter` is `--cut-after`; a key that is no name alone takes the group's, as `fault.kind` and `also.at`. */
function flagNameOf(at: string): string {
  const [group = '', key = ''] = at.split('.');
  const ofGroup = ['at', 'for', 'after'].includes(key) ? `${group}-${key}` : key;
  const words = ['kind', 'mode', 'version'].includes(key) ? group : ofGroup;
  return words.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

interface Sweepable<Value> {
  /** Default: a sweep leaves the field at its default. */
  readonly swept?: Swept<Value> | undefined;
}

/** Where there are few values. `draw`: any of them; of a toggle the other one. */
interface DrawnOfFew<Value> {
  readonly swept?: Partial<Swept<Value>>;
}

interface Ways<Written> extends Omit<Flag, 'flags'> {
  /** Default: as it is recorded. */
  readonly written?: z.ZodType<unknown, Written>;
  readonly show?: (value: unknown) => string;
}

type Defaulted<Schema extends z.ZodType> = z.ZodDefault<Schema>;
type Enum<Value extends string> = z.ZodEnum<{ [V in Value]: V }>;

/** A field whose default types know, so that they know the kind of a group that says none. */
type Stocked<F extends Field, Stock> = F & { readonly stock: Stock };

/** Declares that the kinds of a field are the values of `head`, a field beside it. */
export const under = <const Head extends string, F extends Field>(
  head: Head,
  field: F,
): F & { readonly head: Head } => ({ ...field, head });

/** Without its default. */
export const bareOf = (schema: z.ZodType): z.ZodType =>
  schema instanceof z.ZodDefault ? (schema.unwrap() as z.ZodType) : schema;

/** Any kind of value. */
export function field<
  Schema extends z.ZodType,
  At extends string,
  const Of extends string = string,
  Written = z.input<Schema>,
>(
  at: At,
  schema: Schema,
  said: Said<Of> & Ways<Written> & Sweepable<z.output<Schema>>,
): Field<Schema, At, Written, Of> {
  const { text, choices, about, more, of, isHarmless, swept, show = String } = said;
  const {
    needs,
    needing,
    flag = flagNameOf(at),
    value = choices === undefined ? 'n' : 'kind',
  } = said;
  const stock: unknown = schema.safeParse(undefined).data;
  const flags =
    typeof stock === 'boolean' ? `--${stock ? 'no-' : ''}${flag}` : `--${flag} <${value}>`;
  return {
    ...{ at, schema, about, more, of, isHarmless, needs, needing, swept, show },
    stock,
    written: said.written ?? (bareOf(schema) as z.ZodType<unknown, Written>),
    // Without a group it is a fact of the whole run, which no file and no flag sets.
    flag: at.includes('.') ? { flags, text, choices } : undefined,
  };
}

export const choice = <
  At extends string,
  const Value extends string,
  const Stock extends NoInfer<Value>,
  const Of extends string = string,
>(
  at: At,
  values: readonly Value[],
  stock: Stock,
  said: Said<Of> & DrawnOfFew<NoInfer<Value>>,
): Stocked<Field<Defaulted<Enum<Value>>, At, Value, Of>, Stock> => {
  const bare = z.enum(values) as Enum<Value>;
  const written = bare as z.ZodType<unknown, Value>;
  const swept = said.swept && { draw: oneOf(values), ...said.swept };
  const made = field<Defaulted<Enum<Value>>, At, Of, Value>(at, bare.default(stock as never), {
    ...{ ...said, choices: values, written, swept },
  });
  return { ...made, stock };
};

export const toggle = <At extends string, const Of extends string = string>(
  at: At,
  stock: boolean,
  said: Said<Of> & DrawnOfFew<boolean>,
): Field<Defaulted<z.ZodBoolean>, At, boolean, Of> => {
  const swept = said.swept && { draw: () => !stock, ...said.swept };
  return field(at, z.boolean().default(stock), { ...said, written: z.boolean(), swept });
};

/** A field that came late: records have it only where it is not at its default, so all others are as they were. */
export const sparse = <
  Bare extends z.ZodType,
  At extends string,
  Written,
  Of extends string,
  Stock,
>(
  field: Stocked<Field<Defaulted<Bare>, At, Written, Of>, Stock>,
): Stocked<Field<z.ZodOptional<Bare>, At, Written, Of>, Stock> => ({
  ...field,
  schema: field.schema.unwrap().optional(),
  isSparse: true,
});

/** Milliseconds, none at all included. */
const anyMs = z.number().int().nonnegative().max(longestMs);
const showMs = (value: unknown): string => formatDuration(Number(value));

/** Milliseconds. `least`: 1 where none at all would make no run, or another one. */
export const time = <At extends string, const Of extends string = string>(
  at: At,
  stockMs: number,
  { least = 0, ...said }: Said<Of> & Sweepable<number> & { readonly least?: 0 | 1 },
): Field<Defaulted<z.ZodNumber>, At, Time, Of> => {
  const bare = least === 0 ? anyMs : anyMs.positive();
  return field(at, bare.default(stockMs), {
    ...{ ...said, written: writtenTime.pipe(bare), text: durationText(least), value: 'time' },
    show: showMs,
  });
};

/** Seconds, as the fields of a pod have them. */
export const seconds = <At extends string, const Of extends string = string>(
  at: At,
  [leastS, mostS]: readonly [number, number],
  stockS: number,
  said: Said<Of> & Sweepable<number>,
): Field<Defaulted<z.ZodNumber>, At, Time, Of> => {
  const bare = wholeWithin(leastS, mostS);
  return field(at, bare.default(stockS), {
    ...said,
    written: writtenTime.pipe(anyMs.multipleOf(1000).transform((ms) => ms / 1000)).pipe(bare),
    text: secondsText(mostS),
    value: 'time',
    show: (value) => showMs(Number(value) * 1000),
  });
};

const wholeWithin = (least: number, most: number): z.ZodNumber => {
  const bare = z.number().int();
  return (least === 0 ? bare.nonnegative() : bare.min(least)).max(most);
};

/** At an event, or so many milliseconds after what the field says. */
export const moment = <
  At extends string,
  const Event extends WhenEvent,
  const Of extends string = string,
>(
  at: At,
  events: readonly Event[],
  stock: When<NoInfer<Event>>,
  said: Said<Of> & Sweepable<When<NoInfer<Event>>>,
): Field<Defaulted<z.ZodUnion<[Enum<Event>, z.ZodNumber]>>, At, Event | Time, Of> => {
  const event = z.enum(events) as Enum<Event>;
  const wanted = `${events.join(', ')}, or a time such as 30s`;
  const schema = z.union<[Enum<Event>, z.ZodNumber]>([event, anyMs]);
  return field(at, schema.default(stock as never), {
    ...said,
    written: z.union([event, writtenTime], `give ${wanted}`) as z.ZodType<unknown, Event | Time>,
    text: z.union([event as z.ZodType<unknown, string>, durationText()], `Give ${wanted}.`),
    show: (value) => (typeof value === 'number' ? showMs(value) : String(value)),
    value: 'when',
  });
};

/** A whole number. */
export const whole = <At extends string, const Of extends string = string>(
  at: At,
  [least, most]: readonly [number, number],
  stock: number,
  said: Said<Of> & Sweepable<number>,
): Field<Defaulted<z.ZodNumber>, At, number, Of> => {
  const bare = wholeWithin(least, most);
  return field(at, bare.default(stock), { ...said, written: bare, text: numberText(least, most) });
};
