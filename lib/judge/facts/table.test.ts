/** Facts and witnesses of a run in small; test/evidence-mutants attacks each row on real histories. */
import { expect, test } from 'vitest';
import { runRecord, see } from '../../../test/support/run-record.ts';
import { observed } from '../../history/observations.ts';
import type { SmallRecord } from '../../history/records.ts';
import { mysql } from '../../mysql/database.ts';
import type { DiskMode } from '../../scenario/index.ts';
import { tellStory } from '../timeline/story.ts';
import { newestAttachments } from './copies.ts';
import { unknown } from './engine.ts';
import { evidenceOf } from './evidence.ts';
import { auditAttachments } from './kubernetes.ts';
import { disagreementsIn, factNames, reasonOf } from './table.ts';

function found(mode: DiskMode, ...more: readonly SmallRecord[]): string[] {
  const about = { type: 'action', actor: 'fault', name: 'network-partition', node: 'a' } as const;
  const records: SmallRecord[] = [
    runRecord({ fault: { kind: 'network-partition' }, disk: { mode } }),
    see(500, observed.mounted, 'a', { generation: 0 }),
    { ...about, t: 1000, step: 'begin' },
    { ...about, t: 1100, step: 'done' },
    ...more,
    { type: 'phase', t: 90_000, phase: 'heal' },
    { type: 'phase', t: 100_000, phase: 'second-image' },
  ];
  const story = tellStory(records, mysql);
  // No image is made, and nothing is certified.
  const others = factNames.filter((fact) => !['copy', 'certified'].includes(fact));
  const evidence = evidenceOf(story, undefined, []);
  return disagreementsIn(evidence, others).map((each) => reasonOf(each).words);
}

test('a path is one node’s, but a shared directory, which has none', () => {
  const second = see(20_000, observed.mounted, 'b', { generation: 0 });
  expect(found('unfenced', second)).toContainEqual(
    expect.stringMatching(/^whose path to the disk it is \(path 0\): /),
  );
  expect(found('shared-file', second).join()).not.toContain('whose path');
});

test('a mount needs a call to the driver, and a call a mount', () => {
  const mounted = see(20_000, observed.mounted, 'b', { generation: 2 });
  expect(found('unfenced', mounted)).toEqual([
    'whether the volume is mounted (b): mounted by the mounts’ observer, not mounted by the driver at 30.0 s',
  ]);
});

test('an attachment that is there before the audit log begins may go and come again', () => {
  const data = { attachment: 'csi-1', volume: 'v' };
  const asked = (t: number, verb: string) =>
    see(t, observed.apiRequest, undefined, {
      verb,
      resource: 'volumeattachments',
      object: 'csi-1',
    });
  const story = tellStory(
    [
      runRecord({}),
      see(0, observed.attachmentAttached, 'a', data),
      asked(30_000, 'delete'),
      asked(90_000, 'create'),
      { type: 'phase', t: 100_000, phase: 'second-image' },
    ],
    mysql,
  );
  const stated = auditAttachments(evidenceOf(story, undefined, []));
  expect(stated?.statements.map(({ value, fromMs }) => [value, fromMs])).toEqual([
    ['there', 0],
    [unknown, 30_000],
    ['there', 90_000],
  ]);
});

test('hours of observations are not too many to find the newest attachment', () => {
  const seen = Array.from({ length: 200_000 }, (_, n) => ({
    ...see(n, observed.deviceWritten, 'a', { generation: 1 }),
    source: 'devices',
  }));
  const made = { copy: 'c', volume: 'v', generation: 1, bytes: 1, stamp: 's', digest: 'd' };
  const copy = { type: 'copy', image: 'steady', t: 300_000, made } as const;
  const told = tellStory([runRecord({}), ...seen, copy], mysql);
  const story = { ...told, tells: { ...told.tells, identities: true } };
  const stated = newestAttachments(evidenceOf(story, undefined, []));
  expect(stated?.statements).toMatchObject([{ item: 'steady generation', value: '1' }]);
});

test.each([
  ['network-partition', 'none', ['1']],
  ['node-crash', 'none', []],
  ['network-partition', 'node-crash', []],
] as const)(
  'after a %s, also %s, nobody reports the path that waits for a dead node',
  (kind, also, values) => {
    const about = { type: 'action', actor: 'fault', name: kind, node: 'a' } as const;
    const made = { copy: 'c', volume: 'v', generation: 2, bytes: 1, stamp: 's', digest: 'd' };
    const told = tellStory(
      [
        runRecord({ fault: { kind }, also: { kind: also } }),
        { ...see(500, observed.mounted, 'a', { generation: 1 }), source: 'mounts' },
        { ...about, t: 1000, step: 'begin' },
        { ...about, t: 1100, step: 'done' },
        { type: 'copy', image: 'first', t: 90_000, made },
      ],
      mysql,
    );
    const story = { ...told, tells: { ...told.tells, identities: true } };
    const stated = newestAttachments(evidenceOf(story, undefined, []));
    expect(stated?.statements.map(({ value }) => value)).toEqual(values);
  },
);
