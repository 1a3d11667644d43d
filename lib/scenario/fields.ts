/** A scenario's groups of fields, from their owners, and what can be done with a field by its path: `fault.down`. */
import { z } from 'zod';
import { kubernetesFields, timerFields, watchFields } from './cluster.ts';
import { databaseFields } from './databases/index.ts';
import { diskOriginSchema } from './disks/disk-origin.ts';
import { diskFields, volumeFields } from './disks/index.ts';
import { alsoFields, faultFields } from './faults/index.ts';
import { field, placed, type Declared, type Field } from './field.ts';
import { remedyFields } from './remedies/index.ts';
import { loadFields, selfFenceFields, workloadFields } from './workload.ts';

export const safetyLevels = ['safe', 'exposed', 'lost', 'corrupt'] as const;
export const verdictWords = [...safetyLevels, 'inconclusive'] as const;

/** Independent fault events by their verdict; a word that is absent has none. */
const countsSchema = z.partialRecord(z.enum(safetyLevels), z.number().int().positive());
export type Counts = Readonly<z.output<typeof countsSchema>>;

/** Whether somebody is expected to serve after the heal; `open` can't fail. */
export const servingWords = ['yes', 'no', 'open'] as const;

/** Names become names of folders and of objects. */
const nameLength = 60;
const questionLength = 2000;

/** Facts of a whole run, which no file and no flag sets as fields. */
export const about = {
  name: field(
    z
      .string()
      .regex(/^[a-z0-9-]+$/)
      .max(nameLength),
    { about: 'the experiment’s name, kebab-case' },
  ),
  question: field(z.string().min(1).max(questionLength), {
    about: 'the question in one sentence, for the report',
  }),
  diskFrom: field(diskOriginSchema.optional(), {
    about: 'the certificate that describes the disk',
    more: '([play a certificate](../how-to/play-a-certificate.md))',
  }),
  expected: field(z.array(z.enum(verdictWords)).min(1), {
    about: 'expected verdicts',
    show: (words) => (words as readonly string[]).join(' or '),
  }),
  counted: field(countsSchema.optional(), {
    about:
      'of a race: how many fault events came to each verdict before this run; absent where reasoning decides',
    more: '([verdicts](verdicts.md)); fewer than 8 are no expectation, and the run is *open*',
  }),
  expectedServing: field(z.enum(servingWords).optional(), {
    about:
      'whether a database serves again after the heal, or open where it is a race; by default as the scenario has it; it counts if the verdict is safe',
    more: '([verdicts](verdicts.md))',
  }),
};

/** What people set, by the groups in which they write it; a group's first field is its head, where it has one. */
export const groups = {
  fault: faultFields,
  also: alsoFields,
  remedy: remedyFields,
  workload: workloadFields,
  timers: timerFields,
  volume: volumeFields,
  disk: diskFields,
  load: loadFields,
  database: databaseFields,
  selfFence: selfFenceFields,
  kubernetes: kubernetesFields,
  watch: watchFields,
};
export type Groups = typeof groups;
export type GroupName = keyof Groups;
export const groupNames = Object.keys(groups) as readonly GroupName[];

/** The path of a field that people set. */
export type SettableName = {
  [Group in GroupName]: `${Group}.${keyof Groups[Group] & string}`;
}[GroupName];
export type FieldName = SettableName | keyof typeof about;

/** A scenario as a run records it. */
export type Scenario = Readonly<z.output<z.ZodObject<AboutShape>>> & {
  readonly [Group in GroupName]: {
    readonly [Key in keyof Groups[Group]]: ValueOf<Groups[Group][Key]>;
  };
};
/** Some of a scenario's fields. */
export type Settings = {
  readonly [Group in GroupName]?:
    | { readonly [Key in keyof Groups[Group]]?: ValueOf<Groups[Group][Key]> | undefined }
    | undefined;
};
export type ScenarioInput = Omit<Readonly<z.input<z.ZodObject<AboutShape>>>, 'expected'> &
  Settings & { readonly expected: readonly Scenario['expected'][number][] };
/** What a field's value may be, by its path. */
export type FieldValue<Name extends SettableName> =
  Name extends `${infer Group extends GroupName}.${infer Key}`
    ? Key extends keyof Scenario[Group]
      ? Scenario[Group][Key]
      : never
    : never;
type AboutShape = { [Name in keyof typeof about]: (typeof about)[Name]['schema'] };
type ValueOf<D> = D extends Declared ? z.output<D['schema']> : never;

/** Each with its group and its key in that, by its path. */
const placedFields = Object.entries(groups).flatMap(([group, declared]) =>
  Object.entries(declared).map(([key, each]) => {
    const at = `${group}.${key}` as SettableName;
    return [at, { ...placed(at, each), group: group as GroupName, key }] as const;
  }),
);

export const fields = Object.fromEntries([
  ...Object.entries(about).map(([name, each]) => [name, placed(name, each)]),
  ...placedFields,
]) as Readonly<Record<FieldName, Field>>;
export const fieldNames = Object.keys(fields) as readonly FieldName[];
export const settableNames: readonly SettableName[] = placedFields.map(([at]) => at);
const places = new Map<string, { readonly group: GroupName; readonly key: string }>(placedFields);

type AnyRecord = Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;

/** Reads a field. Make one for many scenarios: a sweep reads of each schedule. */
export function readerOf(name: FieldName): (of: Settings) => unknown {
  const place = places.get(name);
  if (place === undefined) return (of) => (of as Readonly<Record<string, unknown>>)[name];
  const { group, key } = place;
  return (of) => (of as AnyRecord)[group]?.[key];
}

const readers = new Map<string, (of: Settings) => unknown>(
  fieldNames.map((name) => [name, readerOf(name)]),
);
export const valueAt = (of: Settings, name: FieldName): unknown => readers.get(name)?.(of);

/** With other values of fields. */
export function withValues<S extends object>(
  of: S,
  values: Iterable<readonly [string, unknown]>,
): S {
  const [given, copy] = [of as Record<string, unknown>, { ...of } as Record<string, unknown>];
  for (const [name, value] of values) {
    const place = places.get(name);
    if (place === undefined) {
      copy[name] = value;
      continue;
    }
    const { group, key } = place;
    if (copy[group] === given[group]) copy[group] = { ...(copy[group] as object) };
    (copy[group] as Record<string, unknown>)[key] = value;
  }
  return copy as S;
}

/** Of these values alone. */
export const settingsFrom = (values: Iterable<readonly [string, unknown]>): Settings =>
  withValues({}, values);

/** What is set there, by path. */
export const valuesIn = (of: Settings): (readonly [SettableName, unknown])[] =>
  settableNames
    .map((name) => [name, valueAt(of, name)] as const)
    .filter(([, value]) => value !== undefined);

/** Field by field, the later wins. */
export function combined<S extends object>(base: S, ...others: readonly Settings[]): S {
  const whole = { ...base } as Record<string, unknown>;
  for (const [name, value] of others.flatMap((each) => Object.entries(each))) {
    const isGroup = name in groups && typeof value === 'object';
    whole[name] = isGroup ? { ...(whole[name] as object), ...value } : value;
  }
  return whole as S;
}

/** The key whose values are a group's kinds: each goes with some of the others. */
const headKeys = ['kind', 'mode', 'version', 'forceDetach'] as const;
type HeadKey = (typeof headKeys)[number];

export const headOf = (group: string): SettableName | undefined =>
  settableNames.find((name) => headKeys.some((key) => name === `${group}.${key}`));

/** The head where a word in the group's place is its value: `fault: freeze`. */
export const wordOf = (group: string): SettableName | undefined => {
  const head = headOf(group);
  return head === 'timers.forceDetach' ? undefined : head;
};

/** A field's head, by its path. */
export const headBeside = (name: FieldName): SettableName | undefined =>
  headOf(places.get(name)?.group ?? '');

/** `fault` for `fault.kind`: as the field is written in words. */
export const placeOf = (name: FieldName): string => {
  const group = places.get(name)?.group ?? '';
  return wordOf(group) === name ? group : name;
};

/** `only with fault node-crash or node-reboot`, or with which it is not; undefined of what goes with all. */
export function kindsInWords(name: FieldName): string | undefined {
  const { of } = fields[name];
  const head = headBeside(name);
  if (of === undefined || head === undefined) return undefined;
  const others = (fields[head].choices ?? []).filter((kind) => !of.includes(kind));
  const isMost = others.length < of.length;
  return `${isMost ? 'not' : 'only'} with ${placeOf(head)} ${(isMost ? others : of).join(', ')}`;
}

/** Why a field is refused beside the kind that its group has. */
export const doesNothing = (name: FieldName): string =>
  `it goes ${kindsInWords(name) ?? 'with no kind'}`;

/** Whether a field does something beside the kind that its group has there; where none is set, it may. */
export function goesWith(name: FieldName, set: Settings): boolean {
  const { of } = fields[name];
  const head = headBeside(name);
  const kind = head && valueAt(set, head);
  return of === undefined || kind === undefined || of.some((each) => each === kind);
}

/** Fields that are set and do nothing there: where no kind is set, the group has its default one. */
export const misplacedIn = (set: Settings): SettableName[] =>
  valuesIn(set).flatMap(([name]) => {
    const head = headBeside(name);
    if (head === undefined) return [];
    const kind = valueAt(set, head) ?? fields[head].stock;
    return goesWith(name, settingsFrom([[head, kind]])) ? [] : [name];
  });

/** `over` wins; where it names another kind, what only the kind before it had goes with that. */
export const settingsUnder = (base: Settings, over: Settings): Settings =>
  combined(settingsFrom(valuesIn(base).filter(([name]) => goesWith(name, over))), over);

/** What people write of a field. */
type WrittenValue<D> = D extends Declared ? z.input<D['written']> : never;
type KindsOf<D> = D extends { readonly of?: readonly (infer Kind)[] | undefined } ? Kind : string;
type HeadKeyOf<Group extends GroupName> = HeadKey & keyof Groups[Group];
type HeadFieldOf<Group extends GroupName> = Groups[Group][HeadKeyOf<Group>];

/** The kind of a group that names none. */
type StockKind<Group extends GroupName> =
  HeadFieldOf<Group> extends { readonly stock: infer Stock extends string }
    ? Stock
    : HeadFieldOf<Group> extends { readonly schema: z.ZodDefault }
      ? WrittenValue<HeadFieldOf<Group>>
      : never;

/** What goes with that kind, and nothing that goes with others only. */
export type WrittenWith<Group extends GroupName, Kind> = {
  readonly [Key in Exclude<keyof Groups[Group], HeadKey>]?: Kind extends KindsOf<Groups[Group][Key]>
    ? WrittenValue<Groups[Group][Key]>
    : never;
};

type OfKind<Group extends GroupName, Kind> = Kind extends unknown
  ? (Kind extends StockKind<Group>
      ? { readonly [Key in HeadKeyOf<Group>]?: Kind }
      : { readonly [Key in HeadKeyOf<Group>]: Kind }) &
      WrittenWith<Group, Kind>
  : never;

/** `fault: freeze`, or `fault: { kind: flapping-partition, down: 46s }`: a union by kind. */
export type WrittenGroup<Group extends GroupName> = [HeadKeyOf<Group>] extends [never]
  ? WrittenWith<Group, string>
  :
      | (Group extends 'timers' ? never : WrittenValue<HeadFieldOf<Group>>)
      | OfKind<Group, WrittenValue<HeadFieldOf<Group>>>;

/** A scenario as people write it, without what is derived. */
export type WrittenScenario = { readonly [Group in GroupName]?: WrittenGroup<Group> };
