/** A scenario as people write it, nested: the settings that it means, or what is wrong in it, by its path. */
import { z } from 'zod';
import { parseDurationMs, UsageError, nearestOf } from '../core/index.ts';
import { bareOf, type Field } from './fields/field.ts';
import { fields } from './fields.ts';
import {
  doesNothing,
  groupOf,
  groups,
  writtenPathOf,
  settableNames,
  type Group,
  type SettableName,
} from './written-paths.ts';
import type { Settings } from './settings.ts';
import type { WrittenScenario } from './written-form.ts';

type KeyPath = readonly (string | number)[];
export type Complain = (path: KeyPath, message: string) => void;
type Keys = Readonly<Record<string, unknown>>;

/** Complaints as issues of a schema. */
export const complainingIn =
  (context: z.RefinementCtx): Complain =>
  (path, message) =>
    context.addIssue({ code: 'custom', path: [...path], message });

/** Any of a scenario's fields but what is derived; also as versions before the nested form wrote it. */
export const settingsSchema: z.ZodType<Settings> = z
  .unknown()
  .transform((value, context) => readSettings(value, complainingIn(context)));

/** Reads a program's own text. `onHint` is told of the old form. Throws UsageError `SCENARIO_INVALID` with each path. */
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
interface Reading extends Way {
  readonly name: SettableName;
  readonly value: unknown;
}

/** What is not complained about. */
export function readSettings(written: unknown, complain: Complain): Settings {
  if (!isMap(written)) {
    complain([], `give a map of ${[...groups.keys()].join(', ')}`);
    return {};
  }
  const readings = Object.entries(written).flatMap(([key, value]): Reading[] => {
    const group = groups.get(key);
    if (group !== undefined && isMap(value)) return readGroup(group, value, complain);
    const name = group === undefined ? recorded(key) : group.word;
    if (name !== undefined)
      return [{ name, value, path: [key], isOld: group === undefined, complain }];
    complain(
      [key],
      group === undefined
        ? unknownKey(key, [...groups.keys()])
        : `give a map of ${[...group.members.keys()].join(', ')}`,
    );
    return [];
  });
  const firstOf = new Map<SettableName, KeyPath>();
  return Object.assign(
    {},
    ...readings.map(({ name, value, ...way }): Settings => {
      const first = firstOf.get(name);
      if (first === undefined) {
        firstOf.set(name, way.path);
        return readValue(name, value, way);
      }
      complain(way.path, `stands here twice: it is ${first.join('.')} as well`);
      return {};
    }),
  ) as Settings;
}

export const isMap = (value: unknown): value is Keys =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function readGroup(group: Group, written: Keys, complain: Complain): Reading[] {
  const headKey = [...group.members].find(([, name]) => name === group.head)?.[0];
  const kind = headKey === undefined ? undefined : written[headKey];
  return Object.entries(written).flatMap(([key, value]): Reading[] => {
    const path = [group.name, key];
    const name = group.members.get(key) ?? oldNameIn(group, key);
    if (name === undefined) {
      complain(path, unknownKey(key, [...group.members.keys()]));
      return [];
    }
    const { of }: Field = fields[name];
    if (typeof kind === 'string' && of?.includes(kind) === false) {
      complain(path, doesNothing(name));
      return [];
    }
    return [{ name, value, path, isOld: !group.members.has(key), complain }];
  });
}

/** By the record's name for it. */
const recorded = (word: string): SettableName | undefined =>
  settableNames.find((name) => name === word);

function oldNameIn(group: Group, key: string): SettableName | undefined {
  const name = recorded(key);
  return name !== undefined && groupOf(name) === group ? name : undefined;
}

/** The field that a word means: `fault.down`, a group's own name for its head, or the record's name for it. */
export function fieldAt(word: string): SettableName | undefined {
  const [name = '', key] = word.split('.');
  if (key !== undefined) return groups.get(name)?.members.get(key);
  return groups.get(name)?.word ?? recorded(name);
}

/** A record's name, where a group is expected. */
export const isOldName = (word: string): boolean =>
  recorded(word) !== undefined && !groups.has(word);

interface Way {
  readonly path: KeyPath;
  /** Written as it is recorded. */
  readonly isOld: boolean;
  readonly complain: Complain;
}

/** One field. */
export function readValue(
  name: SettableName,
  value: unknown,
  { path, isOld, complain }: Way,
): Settings {
  const schema: z.ZodType = isOld ? oldForm(name) : fields[name].written;
  const { success, data, error } = schema.safeParse(value);
  for (const { message, path: within } of error?.issues ?? []) {
    complain([...path, ...within.map(String)], message);
  }
  return success ? { [name]: data } : {};
}

/** Until now: as it is recorded, or a time as text. */
function oldForm(name: SettableName): z.ZodType {
  const schema = bareOf(fields[name].schema);
  if (!/(Ms|At)$/.test(name)) return schema;
  const toMs = (value: unknown): unknown =>
    typeof value === 'string' ? (parseDurationMs(value) ?? value) : value;
  return z.preprocess(toMs, schema);
}

function unknownKey(key: string, known: readonly string[]): string {
  const dotted = settableNames.find((name) => fields[name].at === key);
  if (dotted !== undefined) {
    const [group, within] = writtenPathOf(dotted);
    return `no key has a dot: write ${group}: { ${within}: … }`;
  }
  const elsewhere = settableNames.filter((name) => fields[name].at.endsWith(`.${key}`));
  const nearest = nearestOf(key, known);
  if (elsewhere.length > 0) {
    return `no such key; it is written ${elsewhere.map((name) => fields[name].at).join(' or ')}`;
  }
  return nearest === undefined
    ? `no such key; there are ${known.join(', ')}`
    : `no such key; did you mean ${nearest}?`;
}

/** Names of a record where the nested form has places. */
export function oldKeysIn(written: unknown): string[] {
  if (!isMap(written)) return [];
  return Object.entries(written).flatMap(([key, value]) => {
    const members = groups.get(key)?.members;
    if (members === undefined) return isOldName(key) ? [key] : [];
    return isMap(value) ? Object.keys(value).filter((each) => !members.has(each)) : [];
  });
}

/** One line; undefined where nothing is old. */
export function hintOnOldKeys(keys: readonly string[]): string | undefined {
  if (keys.length === 0) return undefined;
  const now = [...new Set(keys)].map((key) => `${key} is ${fieldPlace(key)}`);
  return `the next version reads the nested form only: ${now.join(', ')}`;
}

const fieldPlace = (key: string): string => {
  const name = recorded(key);
  return name === undefined ? key : fields[name].at;
};

/** Settings as people write them; a group of which only the kind is said is that word. */
export function writtenOf(settings: Settings): WrittenScenario {
  const said = settableNames.filter((name) => settings[name] !== undefined);
  return Object.fromEntries(
    [...Map.groupBy(said, (name) => writtenPathOf(name)[0] ?? name)].map(([group, names]) => {
      const [only, ...others] = names;
      if (only === group && others.length === 0) return [group, shown(only, settings)];
      const entries = names.map((name) => [writtenPathOf(name)[1], shown(name, settings)]);
      return [group, Object.fromEntries(entries) as Keys];
    }),
  ) as WrittenScenario;
}

function shown(name: SettableName, settings: Settings): unknown {
  const { written, show }: Field = fields[name];
  const value: unknown = settings[name];
  return typeof value === 'number' && !written.safeParse(value).success ? show(value) : value;
}
