/** data/measurements.jsonl: the one store. It loses nothing, each line is of a known kind, and says what its run's folder says. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { answerSchema } from '../../research/claims/page.ts';
import { runSchema } from '../../lib/expectations/runs.ts';
import { cleanVolumeOf } from '../../research/false-alarms/kind-runs.ts';
import { volumeSchema } from '../../research/false-alarms/volume.ts';
import { groupLineOf, groupSchema } from '../../lib/group-replication/measured.ts';
import { openHistory } from '../../lib/history/reader.ts';
import { linesBelow } from '../../lib/matrix/collect-events.ts';
import { resultsFile } from '../../lib/matrix/results.ts';
import { allLines, linesOf, storePath } from '../../lib/measurements/store.ts';
import { mutantSchema, smallestLossSchema, twinSchema } from '../../lib/report/mutant-score.ts';
import { resultSchema } from '../../research/two-kernels/result.ts';
import { committedWith } from '../support/committed.ts';

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

test('a committed run is in the store, as its folder has it', () => {
  const batches = committedWith(resultsFile);
  const runsAlone = committedWith('verdict.json').filter((run) =>
    batches.every((batch) => !run.startsWith(`${batch}/`)),
  );
  const runs = [...batches, ...runsAlone].flatMap((folder) => linesBelow(folder, '.'));
  expect(runs.length).toBeGreaterThanOrEqual(146);
  const noted = new Map(linesOf(runSchema).map((line) => [line.id, line]));
  for (const run of runs) expect(noted.get(run.id), run.source).toEqual(run);
  const groups = committedWith('verdict.json').flatMap((run) => groupLineOf(run, run));
  expect(linesOf(groupSchema)).toEqual(groups);
});

test('a clean volume whose history git has is in the store as that says it', () => {
  const volumes = linesOf(volumeSchema);
  const folders = committedWith('history/run.hist').filter((folder) =>
    volumes.some(({ source }) => source === folder),
  );
  expect(folders.length).toBeGreaterThan(0);
  for (const folder of folders) {
    const volume = cleanVolumeOf(openHistory(folder), folder);
    expect(volumes.find(({ id }) => id === volume?.id)).toEqual(volume);
  }
});
