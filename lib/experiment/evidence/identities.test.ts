import { expect, test } from 'vitest';
import { runRecord } from '../../../test/support/run-record.ts';
import { nothingRead } from '../../checkers/evidence.ts';
import type { ImageLabel } from '../../storage/identity.ts';
import type { CopyIdentity } from '../../storage/identity.ts';
import type { SmallRecord } from '../../history/reader.ts';
import { tellStory } from '../../timeline/story.ts';
import { identitiesOf } from './identities.ts';
import { mysql } from '../../mysql/database.ts';

const volume = { volume: 'fd-r', filesystemUuid: 'file-system', serverUuid: 'server' };
const timers = {
  ...{ nodeMonitorGraceMs: 1, nodeMonitorPeriodMs: 1, kubeletLeaseMs: 1, kubeletStatusMs: 1 },
  ...{ tolerationMs: 1, forceDetachAfterMs: 1, terminationGraceMs: 1 },
};
const atMs = { steady: 10, first: 20, second: 30 } as const;

const copyOf = (image: ImageLabel): CopyIdentity => ({
  ...{ copy: `copy-${image}`, volume: 'fd-r', generation: 1, bytes: 4096 },
  ...{ stamp: `1-${atMs[image]}`, digest: 'd', filesystemUuid: 'file-system' },
});

interface Told {
  readonly takenAtMs?: number;
  readonly made?: Partial<CopyIdentity>;
  readonly opened?: Partial<CopyIdentity>;
  readonly read?: { readonly filesystemUuid?: string; readonly serverUuid?: string };
}

function image(label: ImageLabel, told: Told = {}): SmallRecord[] {
  const t = atMs[label];
  const { made, opened, read, takenAtMs = t } = told;
  const step = { type: 'action', actor: 'runner', name: `copy ${label} image` } as const;
  const evidence = {
    ...{ ...nothingRead(), filesystemUuid: 'file-system', serverUuid: 'server' },
    ...{ opened: { ...copyOf(label), ...opened }, ...read },
  };
  return [
    { ...step, t, step: 'begin' },
    { type: 'copy', t: t + 1, image: label, made: { ...copyOf(label), ...made } },
    { ...step, t: t + 2, step: 'done' },
    { type: 'image', t: 100 + t, image: label, takenAtMs, evidence },
  ];
}

const begin: SmallRecord[] = [
  { ...runRecord(), schemaVersion: 3 },
  { type: 'setup', t: 1, timers, versions: {}, nodes: ['a', 'b'], volume },
];

function judged(told: Partial<Record<ImageLabel, Told>>, more: readonly SmallRecord[] = begin) {
  const labels = ['steady', 'first', 'second'] as const;
  const records = [...more, ...labels.flatMap((label) => image(label, told[label]))];
  const { reasons, foreign } = identitiesOf(
    tellStory(
      records.toSorted((a, b) => a.t - b.t),
      mysql,
    ),
  );
  return { reasons, foreign: [...foreign] };
}

test('where all tell the same, all three images count', () => {
  expect(judged({})).toEqual({ reasons: [], foreign: [] });
});

test.each([
  { copy: 'copy-first' },
  { volume: 'fd-other' },
  { generation: 7 },
  { bytes: 1 },
  { stamp: '1-2' },
  { digest: 'e' },
  { filesystemUuid: 'other' },
])('an image that was opened as another copy does not count: %o', (opened) => {
  const { reasons, foreign } = judged({ second: { opened } });
  expect(foreign).toEqual(['second']);
  expect(reasons.join()).toContain('opened another copy than was made');
  expect(reasons.join()).toContain(Object.keys(opened)[0]);
});

test('before the fault the volume is the one that was set up', () => {
  const other = { filesystemUuid: 'other' };
  const { reasons, foreign } = judged({ steady: { made: other, opened: other, read: other } });
  expect(foreign).toEqual(['steady']);
  expect(reasons).toEqual([
    'the steady copy has file system other, and the run’s volume file-system',
  ]);
  expect(judged({ steady: { read: { serverUuid: 'other' } } }).foreign).toEqual(['steady']);
});

test('after it a new file system is the fault’s work, where copy and audit agree on it', () => {
  const anew = { filesystemUuid: 'new' };
  const told = { made: anew, opened: anew, read: { ...anew, serverUuid: 'new' } };
  expect(judged({ second: told })).toEqual({ reasons: [], foreign: [] });
  expect(judged({ second: { read: anew } }).foreign).toEqual(['second']);
});

test('copies are several, and of no attachment that was over', () => {
  const first = { copy: 'copy-first', stamp: '1-20' };
  expect(judged({ second: { made: first, opened: first } }).reasons).toEqual([
    'the first and the second copy are one: copy-first',
  ]);
  const seen: SmallRecord = {
    ...{ type: 'observation', t: 15, source: 'devices', name: 'device-written' },
    data: { volume: 'fd-r', generation: 2 },
  };
  const { reasons, foreign } = judged({}, [...begin, seen]);
  expect(foreign).toEqual(['first', 'second']);
  expect(reasons[0]).toContain('of attachment 1, and observers had seen 2');
});

test('an image is of the moment when its copy was begun, less what is not synced yet', () => {
  expect(judged({ second: { takenAtMs: -1990 } }).foreign).toEqual([]);
  expect(judged({ second: { takenAtMs: -3990 } }).foreign).toEqual(['second']);
  expect(judged({ second: { takenAtMs: 31 } }).foreign).toEqual(['second']);
});

test('who says nothing is named', () => {
  const [run, setup] = begin;
  if (run === undefined || setup?.type !== 'setup') throw new Error('there is no setup');
  const { volume: _volume, ...without } = setup;
  expect(judged({}, [run, without]).reasons).toEqual([
    'the history does not say which volume the run was about',
  ]);
});

test('a history before version 3 has no identities', () => {
  expect(judged({ second: { opened: { copy: 'x' } } }, [runRecord()])).toEqual({
    reasons: [],
    foreign: [],
  });
});

const calls = [{ call: 'CreateVolume', node: 'c', t: 1, durationMs: 1 }];
const provisioning = {
  ...{ storageClass: 'k', claim: 'data', volumeName: 'pvc-1', handle: 'fd-r', by: 'driver' },
  calls,
};

test.each<[string, Record<string, unknown>, RegExp | undefined]>([
  ['all tell the same', { provisioning }, undefined],
  ['nobody tells', {}, /does not say what provisioned/],
  [
    'the PersistentVolume has another handle',
    { provisioning: { ...provisioning, handle: 'fd-other' } },
    /pvc-1 is of fd-other, and the run’s is fd-r/,
  ],
  [
    'nobody was asked',
    { provisioning: { ...provisioning, calls: [] } },
    /does not tell that it made/,
  ],
  [
    'the driver refused',
    { provisioning: { ...provisioning, calls: [{ ...calls[0], error: 'no room' }] } },
    /does not tell that it made/,
  ],
])('of a volume that was provisioned: %s', (_, told, reason) => {
  const [run, setup] = begin;
  const scenario = { ...runRecord().scenario, provision: 'dynamic' as const };
  const records = [
    { ...run, scenario },
    { ...setup, volume: { ...volume, ...told } },
  ] as SmallRecord[];
  const { reasons } = judged({}, records);
  expect(reasons).toEqual(reason === undefined ? [] : [expect.stringMatching(reason)]);
});

test('one that was there beforehand needs nobody who made it', () => {
  expect(judged({}, begin).reasons).toEqual([]);
});
