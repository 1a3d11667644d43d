import { expect, test } from 'vitest';
import type { Clock } from '../../core/time.ts';
import { requestRecord } from './logs.ts';

const clock: Clock = {
  nowMs: () => 60_000,
  wallMs: () => Date.parse('2026-11-21T10:01:00Z'),
  sleep: () => Promise.resolve(),
};
const entry = {
  kind: 'Event',
  apiVersion: 'audit.k8s.io/v1',
  level: 'Request',
  stage: 'ResponseComplete',
  verb: 'delete',
  user: { username: 'kubernetes-admin', groups: [] },
  userAgent: 'kubectl/v1.34.4 (linux/amd64)',
  objectRef: { resource: 'pods', namespace: 'default', name: 'mysql-0', apiVersion: 'v1' },
  responseStatus: { metadata: {}, code: 200 },
  requestObject: { kind: 'DeleteOptions', gracePeriodSeconds: 0, preconditions: { uid: 'u1' } },
  requestReceivedTimestamp: '2026-11-21T10:00:55.250000Z',
};
const record = (change: object): unknown =>
  requestRecord(JSON.stringify({ ...entry, ...change }), clock);

test('a request is told by who asked for what, when it came in', () => {
  expect(record({})).toEqual({
    type: 'observation',
    t: 55_250,
    wall: Date.parse('2026-11-21T10:00:55.250Z'),
    source: 'audit',
    name: 'api-request',
    data: {
      ...{ verb: 'delete', resource: 'pods', object: 'mysql-0', namespace: 'default' },
      ...{ user: 'kubernetes-admin', agent: 'kubectl/v1.34.4 (linux/amd64)', code: 200 },
      ...{ gracePeriodS: 0, uid: 'u1' },
    },
  });
});

test('a taint is told by its key, an eviction by its subresource', () => {
  const patch = {
    spec: { taints: [{ key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' }] },
  };
  expect(
    record({ verb: 'patch', objectRef: { resource: 'nodes', name: 'w' }, requestObject: patch }),
  ).toMatchObject({ node: 'w', data: { taints: ['node.kubernetes.io/unreachable'] } });
  const evict = {
    verb: 'create',
    objectRef: { ...entry.objectRef, subresource: 'eviction' },
    requestObject: { deleteOptions: { gracePeriodSeconds: 7 } },
  };
  expect(record(evict)).toMatchObject({ data: { resource: 'pods/eviction', gracePeriodS: 7 } });
});

test('a request whose body the policy leaves out is told all the same', () => {
  const { requestObject: _, ...bare } = entry;
  const objectRef = { resource: 'volumeattachments', name: 'csi-1', apiGroup: 'storage.k8s.io' };
  expect(requestRecord(JSON.stringify({ ...bare, objectRef }), clock)).toMatchObject({
    data: { verb: 'delete', resource: 'volumeattachments', object: 'csi-1' },
  });
});

test('other namespaces, other lines and broken ones are passed over', () => {
  const elsewhere = { objectRef: { ...entry.objectRef, namespace: 'kube-system' } };
  expect(record(elsewhere)).toBeUndefined();
  expect(requestRecord('I1121 10:00:00 1 server.go] started', clock)).toBeUndefined();
  expect(requestRecord('{"kind":"Event","verb":"del', clock)).toBeUndefined();
});
