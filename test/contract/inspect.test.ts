/**
 * `inspect` on our own runs, of which the disk’s log of writes shows whether two could write: from what an operator
 * could have collected it answers so, or that it cannot be told. So it does without any one or two of the files.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { mysql } from '../../lib/mysql/database.ts';
import { openHistory } from '../../lib/history/reader.ts';
import { type Answer, answerVolume } from '../../lib/probe/inspect/answer.ts';
import { incidentOf } from '../../lib/probe/inspect/incident.ts';
import { type Inspection, inspectFolder } from '../../lib/probe/inspect/inspect.ts';
import { type Collected, collectFile, together } from '../../lib/probe/inspect/read.ts';
import { storageOf } from '../../lib/probe/inspect/storage.ts';
import type { DiskMode } from '../../lib/scenario/disks/index.ts';
import { unpackedRun } from '../support/committed.ts';
import { incidentFolder, textOf, writeFolder } from '../support/incident-folder.ts';

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
const modes = new Map<string, DiskMode | undefined>();

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
  modes.set(name, mode);
});

test.each(runs)('%s says the same when redacted', { timeout: 120_000 }, async (name) => {
  await holdsRedacted(join(folder, name), modes.get(name));
});

/** `inspect` says the same of the redacted folder, and no name is left in it. */
async function holdsRedacted(from: string, disk: DiskMode | undefined): Promise<void> {
  const out = `${from}-redacted`;
  const before = await inspectFolder({ folder: from, redact: out, disk, database: mysql });
  const after = await inspectFolder({ folder: out, disk, database: mysql });
  expect(toldIn(after)).toEqual(toldIn(before));
  const names = namesIn(textOf(from)).filter((name) => !wellKnown.test(name));
  expect(names.length).toBeGreaterThan(5);
  const left = textOf(out);
  expect(names.filter((name) => left.includes(name))).toEqual([]);
}

const toldIn = ({ volumes }: Inspection): string[] =>
  volumes
    .map(({ answer, storage, stints, passages, because }) =>
      JSON.stringify([
        ...[answer, storage.mode, because.length],
        stints.map(({ attached, mounts, unmounted, deleting, answered }) =>
          [attached, ...mounts, unmounted, deleting, answered].map((seen) => seen?.atMs),
        ),
        passages.map((each) => [each.answer, each.two, each.chain.steps.map(({ atMs }) => atMs)]),
      ]),
    )
    .toSorted();

/** Those that Kubernetes’ own objects have everywhere, the harness’s stand-ins for a uid, and words of Kubernetes. */
const wellKnown =
  /^(mysql(-0)?(\.\d+)?|default|kube-[a-z-]+|system:.*|data|volume|driver|event-\d+|another|\?|.{0,3})$/;

const namesIn = (text: string): string[] => [
  ...new Set(
    [
      ...text.matchAll(
        /"?\b(?:name|namespace|uid|nodeName|volumeHandle|persistentVolumeName|volumeName|claimName)"?: ?"?([^"\s,]+)/g,
      ),
    ].flatMap(([, name = '']) => name),
  ),
];

test('it answers for 14 of 25 runs whose records are whole', () => {
  expect(whole['two could write']).toHaveLength(7);
  expect(whole['only one could']).toHaveLength(7);
  expect(whole['cannot be told']).toHaveLength(11);
});
