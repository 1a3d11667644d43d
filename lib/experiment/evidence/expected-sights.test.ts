import { expect, test } from 'vitest';
import { runRecord, see } from '../../../test/support/run-record.ts';
import { csiCalls, observed } from '../../history/observations.ts';
import type { SmallRecord } from '../../history/reader.ts';
import { tellStory } from '../../timeline/story.ts';
import { expectedSights } from './expected-sights.ts';
import type { ScenarioInput } from '../scenario.ts';
import { mysql } from '../../mysql/database.ts';

const call = (t: number, name: string, node: string): SmallRecord =>
  see(t, observed.csiCall, node, { call: name });

/** A fault on a at 10 s, the second image at 600 s. */
function missed(seen: readonly SmallRecord[], fields: Partial<ScenarioInput> = {}): string[] {
  const records: SmallRecord[] = [
    { ...runRecord(fields), schemaVersion: 3 },
    { type: 'action', t: 10_000, actor: 'fault', name: 'partition', step: 'begin', node: 'a' },
    ...seen,
    { type: 'phase', t: 600_000, phase: 'second-image' },
  ];
  return expectedSights(
    tellStory(
      records.toSorted((a, b) => a.t - b.t),
      mysql,
    ),
    [],
  );
}

const detached = call(400_000, csiCalls.unpublish, 'a');
const attached = call(410_000, csiCalls.publish, 'b');
const handOver: readonly SmallRecord[] = [
  see(399_000, observed.forceDetachLog),
  see(400_500, observed.attachmentGone, 'a'),
  see(411_000, observed.attachmentAttached, 'b'),
  ...[detached, attached],
];

test('a hand-over that all saw lacks nothing', () => {
  expect(missed(handOver)).toEqual([]);
});

test.each([
  [0, 'the log of the controller manager has no forced detach'],
  [1, 'detached the volume from a at 400.0 s, and the API’s observer reported nothing'],
  [2, 'attached the volume to b at 410.0 s, and the API’s observer reported nothing'],
  [3, 'detached from a by 400.5 s, and the driver reports no ControllerUnpublishVolume'],
  [4, 'attached to b by 411.0 s, and the driver reports no ControllerPublishVolume'],
])('without sight %i it is told', (index, told) => {
  const found = missed(handOver.toSpliced(index, 1));
  expect(found).toHaveLength(1);
  expect(found[0]).toContain(told);
});

test('nobody forces a detach after an unstage, or where the attachment is deleted by hand', () => {
  const [, ...others] = handOver;
  expect(missed([...others, call(395_000, csiCalls.unstage, 'a')])).toEqual([]);
  expect(missed(others, { remedy: 'delete-attachment' })).toEqual([]);
});

test('a node that booted again has nothing to unmount, one that is still down has', () => {
  const [, ...unforced] = handOver;
  const booted = (t: number): SmallRecord => ({
    ...{ type: 'action', t, actor: 'fault', name: 'node-reboot', step: 'heal', node: 'a' },
  });
  const fault = 'node-reboot';
  expect(missed([...unforced, booted(390_000)], { fault })).toEqual([]);
  expect(missed([...unforced, booted(405_000)], { fault })).toHaveLength(1);
});

test('an API server that answers nobody shows nothing', () => {
  expect(
    missed([see(399_000, observed.forceDetachLog), detached], { fault: 'api-outage' }),
  ).toEqual([]);
});

test('what comes last needs not be seen any more', () => {
  expect(missed([call(590_000, csiCalls.publish, 'b')])).toEqual([]);
});

const pod = (t: number, name: string, uid: string): SmallRecord =>
  see(t, name, '', { pod: 'mysql-0', uid });

test('of two pods of one name the first went away', () => {
  const created = [pod(1000, observed.podCreated, '1'), pod(400_000, observed.podCreated, '2')];
  expect(missed([...created, pod(399_000, observed.podGone, '1')])).toEqual([]);
  expect(missed(created)[0]).toContain('no observer reported the one before it go');
});

test('a counter runs backwards only where the volume is staged again', () => {
  const written = (t: number, bytesWritten: number): SmallRecord =>
    see(t, observed.deviceWritten, 'a', { device: '/dev/loop1', generation: 1, bytesWritten });
  const back = [written(20_000, 100), written(30_000, 1)];
  expect(missed(back)).toEqual([
    '/dev/loop1 (generation 1) on a had 100 bytes written, and at 30.0 s 1',
  ]);
  expect(missed([...back, call(29_000, csiCalls.stage, 'a')])).toEqual([]);
  expect(missed([...back, call(29_000, csiCalls.stage, 'b')])).toHaveLength(1);
});
