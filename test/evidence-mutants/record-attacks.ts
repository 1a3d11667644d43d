/**
 * Attacks on records that no witness of a fact is read from, made from those of a real run: each type as a
 * whole, and of some each field of the last one.
 */
import { factNames, facts } from '../../lib/judge/facts/table.ts';
import {
  type Attack,
  type AttackedRow,
  type Change,
  changesOf,
  isAnswer,
  replaceIn,
  sourceOf,
} from './attacks.ts';
import { type BaseName, holdBase } from './bases.ts';
import type { HeldRun, TimedRecord } from './held-run.ts';
import { recounted } from './recount.ts';

const base: BaseName = 'fenced';
/** Types that a run must have, by what is done to them as a whole. */
const judged: ReadonlySet<string> = new Set([
  ...['phase', 'machine', 'workload', 'client-beat', 'certificate', 'copy', 'image'],
  ...['observer-beat', 'session', 'invoke', 'outcome', 'read'],
]);
const done = ['gone', 'gone in part', 'shifted'];
/** Types whose fields are attacked one by one. */
const detailed: ReadonlySet<string> = new Set(['workload', 'certificate', 'copy', 'image']);
/** Fields that explain, and times. */
const telling = /^(type|t|wall|\w+Ms|output|errorLines|command|canaries|documents|files|bytes)$/;
/** What an audit may lack. */
const optional =
  /^(tables|innochecksum|fsck|opened|login|schema|binlog|\w+Uuid|check\w*|valuesAgree)$/;

export function recordAttacks(): Attack[] {
  const rows = factNames.flatMap((fact) => Object.values(facts[fact].witnesses) as AttackedRow[]);
  const read: ReadonlySet<string> = new Set(rows.flatMap(({ of }) => of));
  const records = [...holdBase(base).segments.values()].flatMap((segment) =>
    segment.records.filter((record): record is TimedRecord => record.type !== 'row'),
  );
  const byType = Map.groupBy(records, typeOf);
  return [...byType].flatMap(([type, all]) => {
    const fields = detailed.has(type) ? pathsIn(all.at(-1)) : [];
    return [
      ...(judged.has(type) && !read.has(type) ? attacksOnType(type) : []),
      ...fields
        .filter((path) => optional.test(String(path.at(-1))))
        .map((path) => attackOn(type, path, 'gone')),
      ...fields
        .filter((path) => isAlterable(valueAt(all.at(-1), path)))
        .map((path) => attackOn(type, path, 'altered')),
    ];
  });
}

/** Answers are one source of the table, and several types of records. */
const typeOf = (record: TimedRecord): string => (isAnswer(record) ? record.type : sourceOf(record));

const named = (
  type: string,
  what: string,
  alter: (run: HeldRun, donor: HeldRun) => void,
): Attack => ({
  ...{ name: `${type} ${what}`, of: [type], base, alter, isHarmless: false, isLie: true },
});

const attacksOnType = (type: string): Attack[] =>
  Object.entries(changesOf([]))
    .filter(([kind]) => done.includes(kind))
    .flatMap(([kind, become]) =>
      (kind === 'gone' ? ['', ' of the whole run'] : ['']).map((when) =>
        named(type, kind + when, (run, donor) => {
          const replace = (each: HeldRun): void =>
            replaceIn(each, donor, [type], become, when === '' ? undefined : 0, typeOf);
          // A client that lies in good order counts what is left.
          if (type === 'client-beat') replace(run);
          else recounted(replace)(run);
        }),
      ),
    );

type Path = readonly (string | number)[];

const isGroup = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** By sessions, or with many keys. */
const isMap = (value: object): boolean =>
  Object.keys(value).length > 30 || Object.keys(value).some((key) => key.includes('/'));

/** Of lists and of maps the first. */
function pathsIn(value: unknown): Path[] {
  if (!isGroup(value)) return [];
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  const places = Array.isArray(value) || isMap(value) ? [0] : keys.keys();
  return [...places].flatMap((place): Path[] => {
    const key = keys[place];
    if (key === undefined || telling.test(String(key))) return [];
    const within = (value as Readonly<Record<string | number, unknown>>)[key];
    return [[key], ...pathsIn(within).map((path) => [key, ...path])];
  });
}

const attackOn = (type: string, path: Path, what: 'gone' | 'altered'): Attack => {
  const become: Change = (own) =>
    own.map((each, n) =>
      n < own.length - 1 ? each : (changedAt(each, path, what) as TimedRecord),
    );
  return named(type, `${path.join('.')} ${what}`, (run, donor) =>
    replaceIn(run, donor, [type], become, 0, typeOf),
  );
};

function changedAt(value: unknown, [key, ...rest]: Path, what: 'gone' | 'altered'): unknown {
  if (key === undefined) return altered(value);
  const isLast = rest.length === 0 && what === 'gone';
  if (Array.isArray(value)) {
    const at = Number(key);
    return isLast ? value.toSpliced(at, 1) : value.with(at, changedAt(value[at], rest, what));
  }
  const { [key]: own, ...others } = value as Readonly<Record<string | number, unknown>>;
  // In its place: the order of keys is no evidence.
  return isLast ? others : { ...(value as object), [key]: changedAt(own, rest, what) };
}

const valueAt = (record: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (value, key) => (value as Readonly<Record<string | number, unknown>>)[key],
    record,
  );
const isAlterable = (value: unknown): boolean =>
  !isGroup(value) || (Array.isArray(value) ? value.length > 0 : isMap(value));

/** A list or a map loses its first part. */
const altered = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.slice(1);
  if (isGroup(value)) return Object.fromEntries(Object.entries(value).slice(1));
  return typeof value === 'number'
    ? value + 137
    : typeof value === 'boolean'
      ? !value
      : `${String(value)}9`;
};
