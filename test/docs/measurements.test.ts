/** data/measurements.jsonl: the one store. It loses nothing, each line is of a known kind, and says what its run's folder says. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { answerSchema } from '../../research/claims/page.ts';
import { runSchema, allLines, linesOf, storePath } from '../../lib/batch/measurements.ts';
import { volumeSchema } from '../../research/false-alarms/volume.ts';
import { groupSchema, linesBelow } from '../../lib/batch/collect.ts';
import { mutantSchema, smallestLossSchema, twinSchema } from '../../lib/report/mutant-score.ts';
import { isShallow } from '../../scripts/restored.ts';
import { resultSchema } from '../../research/two-kernels/result.ts';
import { trialSchema } from '../../research/real-storage/result.ts';

const all = allLines();

/** How many there were when they were brought together from six stores: lines come, and none goes. */
const kinds = [
  [runSchema, 353],
  [answerSchema, 180],
  [volumeSchema, 322],
  [mutantSchema, 40],
  [twinSchema, 5],
  [smallestLossSchema, 1],
  [resultSchema, 36],
  [groupSchema, 4],
  [trialSchema, 318],
] as const;

test.each(kinds.map(([kind, least]) => [kind.shape.kind.value, kind, least] as const))(
  'lines of the kind %s are of one shape, and none is lost',
  (_, kind, least) => expect(linesOf<unknown>(kind).length).toBeGreaterThanOrEqual(least),
);

test('there are no other kinds, no line twice, and no path of a machine', () => {
  const known = kinds.map(([kind]) => kind.shape.kind.value);
  expect([...new Set(all.map(({ kind }) => kind))].toSorted()).toEqual(known.toSorted());
  const names = all.map(({ kind, id }) => `${kind} ${id}`);
  expect(new Set(names).size).toBe(names.length);
  expect(readFileSync(storePath, 'utf8')).not.toMatch(/"source":"\//);
});

test('a sample is in the store, as its folder has it', () => {
  const noted = new Map(
    linesOf(runSchema).map((line) => [line.id, { ...line, records: undefined }]),
  );
  for (const run of linesBelow('reports/samples', '.')) {
    expect(noted.get(run.id), run.source).toEqual(run);
  }
});

test.skipIf(isShallow(process.cwd()))('git has the raw records that lines name', () => {
  const named = [...new Set(all.flatMap(({ records }) => records ?? []))];
  expect(named.length).toBeGreaterThan(100);
  const checked = execFileSync('git', ['cat-file', '--batch-check=%(objecttype)'], {
    ...{ encoding: 'utf8', input: `${named.join('\n')}\n` },
  }).trim();
  expect(new Set(checked.split('\n'))).toEqual(new Set(['tree']));
});
