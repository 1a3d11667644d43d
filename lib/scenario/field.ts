/**
 * A field of a scenario, declared once, by its owner. The record, the file's form, flags, help, the JSON
 * Schema and the reference page follow from it. All times are milliseconds.
 */
import { z } from 'zod';
import {
  type Capability,
  formatDuration,
  longestMs,
  parseDurationMs,
  type When,
  type WhenEvent,
} from '../core/index.ts';

/** A field as its owner declares it; its place gives it the rest (`Field`). */
export interface Declared<
  Schema extends z.ZodType = z.ZodType,
  Written = unknown,
  Of extends string = string,
> {
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
  /** With other kinds it is no mistake in a record: older ones have it. */
  readonly isHarmless?: boolean | undefined;
  /** What it takes of a cluster where it is not at its default. Default: nothing. */
  readonly needs?: Capability | undefined;
  /** The part of a value that takes it, as text; undefined: none. Default: all of it. */
  readonly needing?: ((value: unknown, scenario: AnyScenario) => string | undefined) | undefined;
  /** Name of its flag, where that does not follow from its place. */
  readonly flag?: string | undefined;
  /** The word behind the flag, in the help. */
  readonly value: string;
  /** From the word behind the flag. Absent: it has none, or one of the choices. */
  readonly text?: z.ZodType<unknown, string> | undefined;
  readonly choices?: readonly string[] | undefined;
  /** Absent: a sweep leaves it at its default. */
  readonly swept?: Swept | undefined;
  /** Text as it is typed. */
  readonly show: (value: unknown) => string;
}

/** A field at its place. */
export interface Field extends Declared {
  /** Its path in a scenario: `fault.down`. Without a dot: a fact of the whole run, which no file sets. */
  readonly at: string;
  /** Flags as commander takes them: `--flap-down <time>`. Absent: no flag sets it. */
  readonly flags?: string | undefined;
}

/** By their keys in a group. */
export type Fields = Readonly<Record<string, Declared>>;

/** What of a scenario is needed before there is its type. */
interface AnyScenario {
  readonly kubernetes: { readonly version: string };
}

/** `disk.cutAfter` is `--cut-after`; a key that is no name alone takes the group's, as `fault.kind` and `also.at`. */
function flagNameOf(group: string, key: string): string {
  const ofGroup = ['at', 'for', 'on', 'after'].includes(key) ? `${group}-${key}` : key;
  const words = ['kind', 'mode', 'version'].includes(key) ? group : ofGroup;
  return words.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

export function placed(at: string, declared: Declared): Field {
  const [group = '', key] = at.split('.');
  if (key === undefined) return { ...declared, at };
  const { flag = flagNameOf(group, key), stock, value } = declared;
  const flags =
    typeof stock === 'boolean' ? `--${stock ? 'no-' : ''}${flag}` : `--${flag} <${value}>`;
  return { ...declared, at, flags };
}

/** The schemas of a group's fields. */
type Shape<F extends Fields> = { [Name in keyof F]: F[Name]['schema'] };
export const shapeOf = <F extends Fields>(fields: F): Shape<F> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, { schema }]) => [name, schema]),
  ) as Shape<F>;

/** Chance, as a sweep has it. */
export interface Dice {
  /** True so often. */
  chance(share: number): boolean;
  pick<T>(values: readonly T[]): T;
  /** Uniform, both ends included. */
  int(from: number, to: number): number;
}

/** How a sweep draws a field of a schedule. Nothing here knows which values do harm. */
export interface Swept<Value = unknown> {
  readonly draw: (dice: Dice) => Value;
  /** So often it is drawn, else it has its default: so few things happen at once. Default: always. */
  readonly share?: number;
  /** Every schedule draws it: its question. Default: one that draws extras. */
  readonly isAsked?: true;
  /** With another value than the default the schedule asks no row of the outcome matrix. */
  readonly asksNoRow?: true;
}

/** Milliseconds, to a tenth of a second. */
export const secondsWithin =
  (fromS: number, toS: number) =>
  (dice: Dice): number =>
    dice.int(fromS * 10, toS * 10) * 100;

/** So often an event, else a time. */
export const eventOr =
  <const Event extends string>(
    share: number,
    events: readonly Event[],
    time: (dice: Dice) => number,
  ) =>
  (dice: Dice): Event | number =>
    dice.chance(share) ? dice.pick(events) : time(dice);

export const oneOf =
  <const T>(values: readonly T[]) =>
  (dice: Dice): T =>
    dice.pick(values);

/** From a text behind a flag or in a file to its value. `parse` answers undefined where the text is none. */
export const textOf = <T>(
  parse: (text: string) => T | undefined,
  message: string,
): z.ZodType<T, string> =>
  z.string().transform((text, context) => {
    const value = parse(text);
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });

const anyDuration = textOf(
  parseDurationMs,
  'Give a duration of whole milliseconds, such as 30s, 6m or 500ms.',
);

/** Milliseconds of a flag, whose bare number is seconds. `least`: 1 of a wait that is none where it is 0. */
export const durationText = (least: 0 | 1 = 0): z.ZodType<number, string> =>
  anyDuration
    .refine((ms) => ms <= longestMs, 'At most 24h.')
    .refine((ms) => ms >= least, 'More than 0.');

/** Whole numbers. */
export const numberText = (
  least: number,
  most: number,
  message = `Give a whole number from ${least} to ${most}.`,
): z.ZodType<number, string> =>
  textOf((text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return value >= least && value <= most ? value : undefined;
  }, message);

/** A time in a file: with its unit, since a bare number is seconds to one and milliseconds to another. */
type Time = `${number}${'ms' | 's' | 'm' | 'h'}`;

const writtenTime: z.ZodType<number, Time> = z
  .templateLiteral([z.number(), z.enum(['ms', 's', 'm', 'h'])], {
    error: 'give a time with its unit, such as 30s, 6m or 500ms',
  })
  .pipe(durationText() as unknown as z.ZodType<number, Time>);

/** What an owner says of any field. */
interface Said<Of extends string, Value>
  extends Pick<
    Declared<z.ZodType, unknown, Of>,
    'about' | 'more' | 'of' | 'isHarmless' | 'needs' | 'needing' | 'flag'
  > {
  readonly swept?: Swept<Value> | undefined;
}

/** Where there are few values. `draw`: any of them; of a toggle the other one. */
interface SaidOfFew<Of extends string, Value> extends Omit<Said<Of, Value>, 'swept'> {
  readonly swept?: Partial<Swept<Value>>;
}

interface Ways<Written> extends Partial<Pick<Declared, 'value' | 'text' | 'choices' | 'show'>> {
  /** Default: as it is recorded. */
  readonly written?: z.ZodType<unknown, Written>;
}

type Enum<Value extends string> = z.ZodEnum<{ [V in Value]: V }>;

/** Without its default. */
export const bareOf = (schema: z.ZodType): z.ZodType =>
  schema instanceof z.ZodDefault ? (schema.unwrap() as z.ZodType) : schema;

/** Any kind of value. */
export const field = <
  Schema extends z.ZodType,
  const Of extends string = string,
  Written = z.input<Schema>,
>(
  schema: Schema,
  said: Said<Of, z.output<Schema>> & Ways<Written>,
): Declared<Schema, Written, Of> => ({
  value: said.choices === undefined ? 'n' : 'kind',
  show: String,
  ...said,
  schema,
  stock: schema.safeParse(undefined).data,
  written: said.written ?? (bareOf(schema) as z.ZodType<unknown, Written>),
});

/** Its type has the default, so that the kind of a group that names none has a type. */
export const choice = <
  const Value extends string,
  const Stock extends NoInfer<Value>,
  const Of extends string = string,
>(
  values: readonly Value[],
  stock: Stock,
  said: SaidOfFew<Of, NoInfer<Value>>,
): Declared<z.ZodDefault<Enum<Value>>, Value, Of> & { readonly stock: Stock } => {
  const bare = z.enum(values) as Enum<Value>;
  const swept = said.swept && { draw: oneOf(values), ...said.swept };
  const schema: z.ZodDefault<Enum<Value>> = bare.default(stock as never);
  return { ...field<typeof schema, Of, Value>(schema, { ...said, choices: values, swept }), stock };
};

export const toggle = <const Of extends string = string>(
  stock: boolean,
  said: SaidOfFew<Of, boolean>,
): Declared<z.ZodDefault<z.ZodBoolean>, boolean, Of> => {
  const swept = said.swept && { draw: () => !stock, ...said.swept };
  return field(z.boolean().default(stock), { ...said, written: z.boolean(), swept });
};

/** Milliseconds, none at all included. */
const anyMs = z.number().int().nonnegative().max(longestMs);
const showMs = (value: unknown): string => formatDuration(Number(value));

/** `least`: 1 where none at all would make no run, or another one. */
export const time = <const Of extends string = string>(
  stockMs: number,
  { least = 0, ...said }: Said<Of, number> & { readonly least?: 0 | 1 },
): Declared<z.ZodDefault<z.ZodNumber>, Time, Of> => {
  const bare = least === 0 ? anyMs : anyMs.positive();
  return field(bare.default(stockMs), {
    ...{ ...said, written: writtenTime.pipe(bare), text: durationText(least), value: 'time' },
    show: showMs,
  });
};

/** Of whole seconds, as the fields of a pod have them, or 499ms would become 0. */
export const seconds = <const Of extends string = string>(
  mostS: number,
  stockS: number,
  said: Said<Of, number>,
): Declared<z.ZodDefault<z.ZodNumber>, Time, Of> => {
  const bare = anyMs.multipleOf(1000).max(mostS * 1000);
  return field(bare.default(stockS * 1000), {
    ...{ ...said, written: writtenTime.pipe(bare), value: 'time', show: showMs },
    text: durationText()
      .refine((ms) => ms % 1000 === 0, 'Give whole seconds.')
      .refine((ms) => ms <= mostS * 1000, `At most ${mostS}s.`),
  });
};

/** At an event, or so many milliseconds after what the field says. */
export const moment = <const Event extends WhenEvent, const Of extends string = string>(
  events: readonly Event[],
  stock: When<NoInfer<Event>>,
  said: Said<Of, When<NoInfer<Event>>>,
): Declared<z.ZodDefault<z.ZodUnion<[Enum<Event>, z.ZodNumber]>>, Event | Time, Of> => {
  const event = z.enum(events) as Enum<Event>;
  const wanted = `${events.join(', ')}, or a time such as 30s`;
  const schema = z.union<[Enum<Event>, z.ZodNumber]>([event, anyMs]);
  return field(schema.default(stock as never), {
    ...said,
    written: z.union([event, writtenTime], `give ${wanted}`) as z.ZodType<unknown, Event | Time>,
    text: z.union([event as z.ZodType<unknown, string>, durationText()], `Give ${wanted}.`),
    show: (value) => (typeof value === 'number' ? showMs(value) : String(value)),
    value: 'when',
  });
};

/** A whole number. */
export const whole = <const Of extends string = string>(
  [least, most]: readonly [number, number],
  stock: number,
  said: Said<Of, number>,
): Declared<z.ZodDefault<z.ZodNumber>, number, Of> => {
  const whole = z.number().int();
  const bare = (least === 0 ? whole.nonnegative() : whole.min(least)).max(most);
  return field(bare.default(stock), { ...said, written: bare, text: numberText(least, most) });
};
