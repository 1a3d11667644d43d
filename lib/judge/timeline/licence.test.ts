/** Licences with an audit log: who asked for each step, what is missing, and a way back. */
import { expect, test } from 'vitest';
import { see, storyOf } from '../../../test/support/run-record.ts';
import type { SmallRecord } from '../../history/records.ts';
import { csiCalls, observed } from '../../history/observations.ts';
import { exposureOf } from './access.ts';
import { licencesOf } from './licence.ts';

const asked = (t: number, user: string, data: Record<string, unknown>): SmallRecord =>
  see(t, observed.apiRequest, '', { user, code: 200, ...data });
const call = (t: number, node: string, name: string): SmallRecord =>
  see(t, observed.csiCall, node, { call: name });
const service = (name: string): string => `system:serviceaccount:kube-system:${name}`;

function licences(...records: readonly SmallRecord[]): ReturnType<typeof licencesOf> {
  const about: readonly SmallRecord[] = [
    see(500, observed.podRunning, 'a', { uid: 'pod-1', pod: 'mysql-0' }),
    see(600, observed.mounted, 'a'),
    { type: 'phase', t: 90_000, phase: 'heal' },
  ];
  const story = storyOf([...about, ...records]);
  return licencesOf(story, exposureOf(story).accesses);
}

const evicted = [
  asked(20_000, service('node-controller'), {
    ...{ verb: 'delete', resource: 'pods', object: 'mysql-0' },
  }),
  see(20_010, observed.podTerminating, 'a', { uid: 'pod-1', pod: 'mysql-0' }),
];
const gone = see(20_200, observed.podGone, 'a', { uid: 'pod-1', pod: 'mysql-0' });
const attachedElsewhere = [
  see(60_000, observed.forceDetachLog, '', {
    line: 'maxWaitForUnmountDuration expired, force detaching node="a"',
  }),
  asked(60_010, service('attachdetach-controller'), {
    ...{ verb: 'delete', resource: 'volumeattachments', object: 'csi-a' },
  }),
  see(60_020, observed.attachmentDeleting, 'a', { attachment: 'csi-a' }),
  call(60_030, 'a', csiCalls.unpublish),
  call(61_000, 'b', csiCalls.publish),
  call(62_000, 'b', csiCalls.stage),
  see(62_200, observed.mounted, 'b'),
  call(62_300, 'b', csiCalls.nodePublish),
];

test('each step says who asked for it: a controller, the operator, a kubelet', () => {
  const removal: SmallRecord[] = [
    { type: 'action', t: 20_100, actor: 'remedy', name: 'force-delete', step: 'begin', node: 'a' },
    asked(20_150, 'kubernetes-admin', {
      ...{ verb: 'delete', resource: 'pods', object: 'mysql-0', gracePeriodS: 0, agent: 'node/1' },
    }),
    gone,
    { type: 'action', t: 20_300, actor: 'remedy', name: 'force-delete', step: 'done', node: 'a' },
  ];
  const { steps = [], gaps } = licences(...evicted, ...removal, ...attachedElsewhere).first ?? {};
  const told = steps.flatMap(({ step, by }) => (by === undefined ? [] : [[step, by]]));
  expect(told).toEqual([
    ['the pod was evicted (it is Terminating)', 'the taint eviction controller'],
    ['the pod object was gone', 'the operator (remedy force-delete), grace period 0 s, by node'],
    ['the VolumeAttachment was deleted', 'the attach/detach controller'],
  ]);
  expect(gaps).toEqual([]);
});

test('links without a record are named', () => {
  const told = licences(call(62_000, 'b', csiCalls.stage), see(62_200, observed.mounted, 'b'));
  expect(told.first?.gaps).toEqual([
    'no record shows when the old pod was removed',
    'no record shows why the detach did not wait for the unmount',
    'no record of a deleted VolumeAttachment',
    'no record of a ControllerUnpublishVolume',
    'no record of a ControllerPublishVolume',
    'no record of a NodePublishVolume',
  ]);
});

test('an attachment deleted by hand explains why nobody waited', () => {
  const byHand = [
    ...attachedElsewhere.slice(2),
    asked(60_000, 'kubernetes-admin', {
      ...{ verb: 'delete', resource: 'volumeattachments', object: 'csi-a' },
    }),
  ];
  expect(licences(gone, ...byHand).first?.gaps).toEqual([]);
});

test('the way back to the old node is a licence of its own', () => {
  const back = [
    see(62_100, observed.podScheduled, 'b', { uid: 'pod-2', pod: 'mysql-0' }),
    see(70_000, observed.podGone, 'b', { uid: 'pod-2', pod: 'mysql-0' }),
    see(71_000, observed.unmounted, 'b'),
    see(72_000, observed.attachmentGone, 'b', { attachment: 'csi-b' }),
    call(72_500, 'b', csiCalls.unpublish),
    call(73_000, 'a', csiCalls.publish),
    see(75_000, observed.mounted, 'a'),
  ];
  const told = licences(gone, ...attachedElsewhere, ...back);
  expect(told.first?.steps.at(-1)?.atS).toBe(61.3);
  expect(told.later).toMatchObject([
    {
      ...{ from: 'b', to: 'a', atS: 74, overlaps: false },
      gaps: ['no record of a NodeStageVolume', 'no record of a NodePublishVolume'],
    },
  ]);
});
