/**
 * `inspect` on our own runs, of which the disk’s log of writes shows whether two could write: from what an operator
 * could have collected it answers so, or that it cannot be told. So it does without any one or two of the files.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { openHistory } from '../../lib/history/reader.ts';
import { type Answer, answerVolume } from '../../lib/probe/inspect/answer.ts';
import { incidentOf } from '../../lib/probe/inspect/incident.ts';
import { type Collected, collectFile, together } from '../../lib/probe/inspect/read.ts';
import { storageOf } from '../../lib/probe/inspect/storage.ts';
import type { DiskMode } from '../../lib/scenario/disks/index.ts';
import { unpackedRun } from '../support/committed.ts';
import { incidentFolder, writeFolder } from '../support/incident-folder.ts';

interface Golden {
  readonly history?: string;
  readonly outcome: { readonly findings: string };
}
const runs = gunzipSync(readFileSync('test/golden/verdicts.jsonl.gz'))
  .toString()
  .trim()
  .split('\n')
  .slice(1)
  .map((line) => JSON.parse(line) as Golden)
  .flatMap(({ history = '', outcome }) =>
    history === '' || history.includes('/group-')
      ? []
      : [
          [
            basename(history, '.tar.zst'),
            history,
            outcome.findings.includes('TWO_WRITERS'),
          ] as const,
        ],
  );

const folder = mkdtempSync(join(tmpdir(), 'inspect-'));
afterAll(() => rmSync(folder, { recursive: true }));

function answerFrom(parts: readonly Collected[], disk: DiskMode | undefined): Answer {
  const incident = incidentOf(together(parts));
  const own = [...incident.volumes.values()].find(({ name }) =>
    name.startsWith('forcedetach-mysql'),
  );
  if (own === undefined) return 'cannot be told';
  return answerVolume(own, incident, storageOf(own, incident, disk)).answer;
}

/** Each way to lack one or two, or none. */
const subsetsOf = <T>(all: readonly T[]): T[][] => {
  const lacking = all.flatMap((one, at) => all.slice(at).map((two) => new Set([one, two])));
  return [new Set<T>(), ...lacking].map((lacks) => all.filter((each) => !lacks.has(each)));
};

const whole: Record<string, string[]> = {};

test.each(runs)('%s', { timeout: 120_000 }, async (name, path, twoCould) => {
  const history = openHistory(path.endsWith('.zst') ? unpackedRun(path) : path);
  const run = [...history.smallRecords()].find((record) => record.type === 'run');
  const files = incidentFolder(history);
  writeFolder(join(folder, name), files);
  const parts: Collected[] = [];
  for (const file of Object.keys(files)) parts.push(await collectFile(join(folder, name), file));
  const wrong: Answer = twoCould ? 'only one could' : 'two could write';
  const mode = run?.scenario.disk.mode;
  const answers = [mode, undefined].flatMap((disk) =>
    subsetsOf(parts).map((some) => {
      const lacks = parts.filter((each) => !some.includes(each));
      return { answer: answerFrom(some, disk), lacks: lacks.map((each) => each.files[0]?.file) };
    }),
  );
  expect(answers.length).toBeGreaterThan(50);
  expect(answers.filter(({ answer }) => answer === wrong)).toEqual([]);
  (whole[answers[0]?.answer ?? ''] ??= []).push(name);
});

test('it answers for 14 of 25 runs whose records are whole', () => {
  expect(whole['two could write']).toHaveLength(7);
  expect(whole['only one could']).toHaveLength(7);
  expect(whole['cannot be told']).toHaveLength(11);
});
