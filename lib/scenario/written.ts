/** A scenario as people write it: the settings that it means, or what is wrong in it, by its path. */
import { z } from 'zod';
import { parseDurationMs, UsageError, nearestOf } from '../core/index.ts';
import { earlierField, earlierNames } from './earlier-names.ts';
import { bareOf } from './field.ts';
import {
  doesNothing,
  fields,
  groupNames,
  groups,
  headOf,
  settableNames,
  settingsFrom,
  valueAt,
  valuesIn,
  wordOf,
  type GroupName,
  type SettableName,
  type Settings,
  type WrittenScenario,
} from './fields.ts';

type KeyPath = readonly (string | number)[];
export type Complain = (path: KeyPath, message: string) => void;
type Keys = Readonly<Record<string, unknown>>;

/** Complaints as issues of a schema. */
export const complainingIn =
  (context: z.RefinementCtx): Complain =>
  (path, message) =>
    context.addIssue({ code: 'custom', path: [...path], message });

/** Any of a scenario's fields but what is derived; also with the flat names of earlier versions. */
export const settingsSchema: z.ZodType<Settings> = z
  .unknown()
  .transform((value, context) => readSettings(value, complainingIn(context)));

/** Reads a program's own text. Gives `onHint` a line about flat names. Throws UsageError `SCENARIO_INVALID` with each path. */
export function settingsOf(
  written: WrittenScenario | Keys,
  onHint: (line: string) => void,
): Settings {
  const complaints: string[] = [];
  const settings = readSettings(written, (path, message) =>
    complaints.push(`${path.join('.')}: ${message}`),
  );
  const hint = hintOnOldKeys(oldKeysIn(written));
  if (hint !== undefined) onHint(hint);
  if (complaints.length === 0) return settings;
  throw new UsageError('SCENARIO_INVALID', `the scenario is not valid:\n${complaints.join('\n')}`, {
    hint: 'docs/reference/scenarios.md lists every key and its default',
  });
}

/** One field with the place where it stands. */
interface Reading {
  readonly name: SettableName;
  readonly value: unknown;
  readonly path: KeyPath;
  readonly isOld: boolean;
}

export const isMap = (value: unknown): value is Keys =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isGroup = (key: string): key is GroupName => Object.hasOwn(groups, key);

const keysOf = (group: GroupName): string[] => Object.keys(groups[group]);

/** What is not complained about. */
export function readSettings(written: unknown, complain: Complain): Settings {
  if (!isMap(written)) {
    complain([], `give a map of ${groupNames.join(', ')}`);
    return {};
  }
  const readings = Object.entries(written).flatMap(([key, value]): Reading[] => {
    if (isGroup(key) && isMap(value)) return readGroup(key, value, complain);
    const name = fieldAt(key);
    if (name !== undefined && !key.includes('.'))
      return [{ name, value, path: [key], isOld: isOldName(key) }];
    const unknown = isGroup(key)
      ? `give a map of ${keysOf(key).join(', ')}`
      : unknownKey(key, groupNames);
    complain([key], unknown);
    return [];
  });
  const values = new Map<SettableName, { readonly path: KeyPath; readonly value: unknown }>();
  for (const { name, value, path, isOld } of readings) {
    const first = values.get(name);
    if (first !== undefined) {
      complain(path, `stands here twice: it is ${first.path.join('.')} as well`);
      continue;
    }
    values.set(name, { path, value: readValue(name, value, { path, isOld, complain }) });
  }
  return settingsFrom(
    [...values].flatMap(([name, { value }]) => (value === undefined ? [] : [[name, value]])),
  );
}

function readGroup(group: GroupName, written: Keys, complain: Complain): Reading[] {
  const head = headOf(group);
  const kind = head && written[head.slice(group.length + 1)];
  return Object.entries(written).flatMap(([key, value]): Reading[] => {
    const path = [group, key];
    const name = fieldAt(path.join('.'));
    if (name === undefined || key.includes('.')) {
      complain(path, unknownKey(key, keysOf(group)));
      return [];
    }
    if (typeof kind === 'string' && fields[name].of?.includes(kind) === false) {
      complain(path, doesNothing(name));
      return [];
    }
    return [{ name, value, path, isOld: false }];
  });
}

/** The field that a word means: `fault.down`, a group's own name for its head, or a flat name of earlier versions. */
export const fieldAt = (word: string): SettableName | undefined =>
  settableNames.find((name) => name === word) ?? (isGroup(word) ? wordOf(word) : earlier(word));

const earlier = (word: string): SettableName | undefined =>
  Object.hasOwn(earlierNames, word) ? earlierNames[word] : undefined;

/** A flat name of earlier versions, where a group is expected. */
export const isOldName = (word: string): boolean => earlier(word) !== undefined && !isGroup(word);

/** One field; undefined of what is complained about. */
export function readValue(
  name: SettableName,
  value: unknown,
  {
    path,
    isOld,
    complain,
  }: { readonly path: KeyPath; readonly isOld: boolean; readonly complain: Complain },
): unknown {
  const schema = isOld ? oldForm(name, String(path[0])) : fields[name].written;
  const { success, data, error } = schema.safeParse(value);
  for (const { message, path: within } of error?.issues ?? []) {
    complain([...path, ...within.map(String)], message);
  }
  return success ? data : undefined;
}

/** As earlier versions recorded it, or a time as text. */
function oldForm(name: SettableName, old: string): z.ZodType {
  const schema = bareOf(fields[name].schema);
  if (!/(Ms|At|S)$/.test(old)) return schema;
  const toMs = (value: unknown): unknown =>
    typeof value === 'string'
      ? (parseDurationMs(value) ?? value)
      : (earlierField(old, value)?.[1] ?? value);
  return z.preprocess(toMs, schema);
}

function unknownKey(key: string, known: readonly string[]): string {
  const [group, within] = key.split('.');
  if (within !== undefined && fieldAt(key) !== undefined)
    return `no key has a dot: write ${group}: { ${within}: … }`;
  const elsewhere = settableNames.filter((name) => name.endsWith(`.${key}`));
  if (elsewhere.length > 0) return `no such key; it is written ${elsewhere.join(' or ')}`;
  const nearest = nearestOf(key, known);
  return nearest === undefined
    ? `no such key; there are ${known.join(', ')}`
    : `no such key; did you mean ${nearest}?`;
}

/** Flat names of earlier versions. */
export const oldKeysIn = (written: unknown): string[] =>
  isMap(written) ? Object.keys(written).filter(isOldName) : [];

/** One line; undefined where nothing is old. */
export function hintOnOldKeys(keys: readonly string[]): string | undefined {
  if (keys.length === 0) return undefined;
  const now = [...new Set(keys)].map((key) => `${key} is ${earlier(key) ?? key}`);
  return `the next version reads the nested form only: ${now.join(', ')}`;
}

/** Settings as people write them; a group of which only the kind is set is that word. */
export function writtenOf(settings: Settings): WrittenScenario {
  const set = Map.groupBy(valuesIn(settings), ([name]) => name.split('.')[0] ?? '');
  return Object.fromEntries(
    [...set].map(([group, values]) => {
      const shown = values.map(([name]) => [
        name.split('.')[1] ?? '',
        writtenValue(name, settings),
      ]);
      const isWord = values.length === 1 && values[0]?.[0] === wordOf(group);
      return [group, isWord ? shown[0]?.[1] : (Object.fromEntries(shown) as Keys)];
    }),
  ) as WrittenScenario;
}

function writtenValue(name: SettableName, settings: Settings): unknown {
  const { written, show } = fields[name];
  const value = valueAt(settings, name);
  return typeof value === 'number' && !written.safeParse(value).success ? show(value) : value;
}
