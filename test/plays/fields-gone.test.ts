/** A record that lacks any one of its fields is refused by the reader, or judged: nothing else is thrown. */
import { expect, test } from 'vitest';
import { ForcedetachError, describeError } from '../../lib/core/errors.ts';
import { recordOf } from '../../lib/history/lines.ts';
import { migrateRecord } from '../../lib/history/migration.ts';
import { type History, openHistory } from '../../lib/history/reader.ts';
import type { SmallRecord } from '../../lib/history/records.ts';
import { judgeGroup } from '../../lib/judge/group/judge-group.ts';
import { isGroupRun } from '../../lib/judge/group/story.ts';
import { assembleVerdict } from '../../lib/judge/verdict/assemble.ts';
import { mysql } from '../../lib/mysql/database.ts';
import { corpusRun } from '../support/committed.ts';

type Path = readonly (string | number)[];
const isGroup = (value: unknown): value is Readonly<Record<string | number, unknown>> =>
  typeof value === 'object' && value !== null;

/** Of lists and of maps the first part. */
function pathsIn(value: unknown): Path[] {
  if (!isGroup(value)) return [];
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  const isMap = keys.length > 30 || keys.some((key) => /[ /]/.test(String(key)));
  return (isMap || Array.isArray(value) ? keys.slice(0, 1) : keys).flatMap((key): Path[] => [
    [key],
    ...pathsIn(value[key]).map((path) => [key, ...path]),
  ]);
}

function without(value: unknown, [key = '', ...rest]: Path): unknown {
  if (!isGroup(value)) return value;
  if (Array.isArray(value)) {
    const at = Number(key);
    return rest.length === 0 ? value.toSpliced(at, 1) : value.with(at, without(value[at], rest));
  }
  const { [key]: own, ...others } = value;
  return rest.length === 0 ? others : { ...value, [key]: without(own, rest) };
}

/** What is thrown that no user may get to see. */
function thrownBy(history: History, records: readonly SmallRecord[], altered: unknown): unknown {
  try {
    migrateRecord(recordOf(altered, records.length));
  } catch {
    return undefined;
  }
  const run = { ...history, smallRecords: () => records.values() as Generator<SmallRecord> };
  try {
    if (isGroupRun(records)) judgeGroup(run, { database: mysql });
    else assembleVerdict(run, { database: mysql });
  } catch (error) {
    return error instanceof ForcedetachError ? undefined : error;
  }
  return undefined;
}

const cases = ['idle-frozen', 'group-partition'].flatMap((name) => {
  const history = openHistory(corpusRun(name));
  const records = [...history.smallRecords()];
  const kinds = Map.groupBy(records, (each) =>
    each.type === 'observation' ? each.name : each.type,
  );
  return [...kinds].map(([kind, all]) => ({ name, kind, last: all.at(-1), history, records }));
});

test.each(cases)('$name: $kind', ({ last, history, records }) => {
  const thrown = pathsIn(last).flatMap((path) => {
    const altered = without(last, path) as SmallRecord;
    const changed = records.map((each) => (each === last ? altered : each));
    const error = thrownBy(history, changed, altered);
    return error === undefined ? [] : [`${path.join('.')}: ${describeError(error)}`];
  });
  expect(thrown).toEqual([]);
});

test('an image whose server starts are missing is damage to the history', () => {
  const [image] = cases.filter(({ kind }) => kind === 'image');
  const { last } = image ?? {};
  expect(() => recordOf(without(last, ['evidence', 'starts']), 1)).toThrow(/not a record.*starts/s);
});
