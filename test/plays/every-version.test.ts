/** All that was ever committed stays readable: histories, verdicts, batches and their results. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readBatch } from '../../lib/cli/commands/batch.ts';
import { assembleVerdict } from '../../lib/judge/verdict/assemble.ts';
import { readVerdict, storedVerdict } from '../../lib/judge/verdict/verdict.ts';
import { isGroupRun, tellGroupStory } from '../../lib/judge/group/story.ts';
import { groupVerdictSchema } from '../../lib/judge/group/verdict.ts';
import { openHistory, type History } from '../../lib/history/reader.ts';
import { readResults } from '../../lib/batch/results.ts';
import { tellStory } from '../../lib/judge/timeline/story.ts';
import { isShallow } from '../../scripts/restored.ts';
import { readResult } from '../../research/two-kernels/read-result.ts';
import { everCommitted, textOf, unpack, type Committed } from '../support/committed.ts';
import { mysql } from '../../lib/mysql/database.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'fd-version-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const minutes = 60_000;
/** A shallow clone has the newest version only. */
const testAll = test.skipIf(isShallow(process.cwd()));

/** What is wrong with each of them; the readers take a folder that holds the file. */
function failuresOf(all: readonly Committed[], read: (folder: string) => void): string[] {
  return all.flatMap(({ hash, path }) => {
    try {
      read(join(folder, hash));
      return [];
    } catch (error) {
      return [`${path} (${hash}): ${error instanceof Error ? error.message : 'unknown'}`];
    }
  });
}

function placeFiles(name: string): Committed[] {
  const all = everCommitted(new RegExp(`/${name}$`));
  for (const each of all) {
    const path = join(folder, each.hash, name);
    mkdirSync(dirname(path));
    writeFileSync(path, textOf(each));
  }
  return all;
}

testAll(
  'every history tells its run, its operations and its rows',
  () => {
    const all = everCommitted(/\/history$/);
    expect(all.length).toBeGreaterThan(140);
    const failures = failuresOf(all, (run) => {
      const hash = run.slice(folder.length + 1);
      unpack({ hash, path: '' }, join(run, 'history'));
      const history = openHistory(run);
      const records = [...history.smallRecords()];
      if (!records.some((each) => each.type === 'phase' && each.phase !== 'prepare')) {
        mustSayNothing(history);
        return;
      }
      if (isGroupRun(records)) tellGroupStory(records, mysql);
      else if (records.some(({ type }) => type === 'case')) readResult(history);
      else if (tellStory(records, mysql).setup === undefined) throw new Error('it has no set-up');
      let operations = 0;
      history.visitOps(() => (operations += 1));
      let rows = 0;
      for (const image of ['steady', 'first', 'second'] as const)
        rows += [...history.rows(image)].length;
      const isIdle = records.some((each) => each.type === 'run' && each.scenario.load.rate === 0);
      if (operations + rows === 0 && !isIdle) throw new Error('nothing was done in it');
      rmSync(run, { recursive: true });
    });
    expect(failures).toEqual([]);
  },
  10 * minutes,
);

/** Of one whose cluster never came up: that it says nothing, and all that it lacks, is said. */
function mustSayNothing(history: History): void {
  const { verdict, incompleteBecause, findings, images } = assembleVerdict(history, {
    database: mysql,
  });
  expect({ verdict, findings, images }).toEqual({
    verdict: 'inconclusive',
    findings: [],
    images: [],
  });
  const errors = [...history.smallRecords()].flatMap((each) =>
    each.type === 'error' ? `${each.where}: ${each.message}` : [],
  );
  // Where nobody lived to say why, the history has no end.
  const cut = 'history segment run ends before the run listed what else there is';
  expect(incompleteBecause).toEqual(
    expect.arrayContaining([
      ...(errors.length > 0 ? errors : [cut]),
      'the fault was never injected',
      'the history does not say what the testbed was',
    ]),
  );
}

testAll(
  'every verdict has today’s shape once it is read',
  () => {
    const all = placeFiles('verdict.json');
    expect(all.length).toBeGreaterThan(140);
    const either = storedVerdict.or(groupVerdictSchema);
    expect(failuresOf(all, (run) => readVerdict(run, either))).toEqual([]);
  },
  5 * minutes,
);

testAll('every batch and all of its results', () => {
  const batches = placeFiles('batch.json');
  const results = placeFiles('results.jsonl').filter(({ path }) => path.includes('/matrix/'));
  expect(Math.min(batches.length, results.length)).toBeGreaterThan(5);
  expect([
    ...failuresOf(batches, readBatch),
    ...failuresOf(results, (batch) => readResults(batch)),
  ]).toEqual([]);
});
