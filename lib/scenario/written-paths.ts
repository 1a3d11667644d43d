/** Where each field of a scenario is written, by its own word on it: `flapDownMs` is `fault.down`. */
import type { Field, SaidFields } from './fields/field.ts';
import { fields } from './fields.ts';

export type FieldName = keyof typeof fields;

export const fieldNames = Object.keys(fields) as readonly FieldName[];
/** By any name; undefined of one that is no field's. */
export const fieldOf = (name: string): Field | undefined =>
  (fields as Readonly<Record<string, Field>>)[name];

/** [`fault`, `down`]; of what no file sets its name alone. */
export const writtenPathOf = (name: FieldName): readonly string[] => fields[name].at.split('.');

/** Fields that are written together. */
export interface Group {
  readonly name: string;
  /** The field whose values are the group's kinds: each goes with some of the others. */
  readonly head: SettableName | undefined;
  /** The head, where it is called as the group: a word in the group's place is its value. */
  readonly word: SettableName | undefined;
  /** By the key within the group. */
  readonly members: ReadonlyMap<string, SettableName>;
}

/** Those that people set: the others follow from the rest of a run, or are its name. */
export type SettableName = {
  [Name in FieldName]: (typeof fields)[Name]['at'] extends `${string}.${string}` ? Name : never;
}[FieldName];
export const settableNames = fieldNames.filter(
  (name): name is SettableName => writtenPathOf(name).length > 1,
);

export const groups: ReadonlyMap<string, Group> = new Map(
  [...Map.groupBy(settableNames, (name) => writtenPathOf(name)[0] ?? '')].map(([name, members]) => {
    const word = members.find((member) => member === name);
    const told = members.map((member) => (fields[member] as Field).head);
    const head = word ?? members.find((member) => told.includes(member));
    const headFirst = members.toSorted((a, b) => Number(b === head) - Number(a === head));
    const byKey = headFirst.map((member) => [writtenPathOf(member)[1] ?? '', member] as const);
    return [name, { name, head, word, members: new Map(byKey) }];
  }),
);

export const groupOf = (name: FieldName): Group | undefined =>
  groups.get(writtenPathOf(name)[0] ?? '');

/** `only with fault node-crash or node-reboot`, or with which it is not; undefined of what goes with all. */
export function kindsInWords(name: FieldName): string | undefined {
  const { of }: Field = fields[name];
  const { head, word } = groupOf(name) ?? {};
  if (of === undefined || head === undefined) return undefined;
  const others = (fieldOf(head)?.flag?.choices ?? []).filter((kind) => !of.includes(kind));
  const isMost = others.length < of.length;
  return `${isMost ? 'not' : 'only'} with ${word ?? fields[head].at} ${(isMost ? others : of).join(', ')}`;
}

const sparseNames = fieldNames.filter((name) => (fields[name] as Field).isSparse);

/** A record with what it means where it says nothing. */
export const inFull = <Record extends Readonly<{ [Name in FieldName]?: unknown }>>(
  record: Record,
): Record => ({
  ...Object.fromEntries(sparseNames.map((name) => [name, fields[name].stock])),
  ...record,
});

/** One without what it means anyway. */
export function inShort<Record extends Readonly<{ [Name in FieldName]?: unknown }>>(
  record: Record,
): Record {
  const isSaid = (name: FieldName): boolean =>
    name in record && (record[name] === undefined || record[name] === fields[name].stock);
  const needless = sparseNames.filter(isSaid);
  if (needless.length === 0) return record;
  const short = { ...record };
  for (const name of needless) delete short[name];
  return short;
}

/** Why a field is refused beside the kind that its group has. */
export const doesNothing = (name: SettableName): string =>
  `it goes ${kindsInWords(name) ?? 'with no kind'}`;

/** The kind that a field's group has there; undefined where none is said. */
const kindSaid = (name: FieldName, said: SaidFields): unknown => said[groupOf(name)?.head ?? ''];

/** Whether a field does something beside the kind that its group has there; where none is said, it may. */
export function goesWith(name: FieldName, said: SaidFields): boolean {
  const { of }: Field = fields[name];
  const kind = kindSaid(name, said);
  return of === undefined || kind === undefined || of.some((each) => each === kind);
}

/** Fields that are said and do nothing there: where no kind is said, the group has its default one. */
export const misplacedIn = (said: SaidFields): SettableName[] =>
  settableNames.filter((name) => {
    const head = groupOf(name)?.head;
    if (said[name] === undefined || head === undefined) return false;
    return !goesWith(name, { [head]: kindSaid(name, said) ?? fieldOf(head)?.stock });
  });
