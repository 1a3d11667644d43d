import type { V1Pod } from '@kubernetes/client-node';
import { expect, test } from 'vitest';
import { failureOf, isJobComplete, mustStart, shardPods } from './pods.ts';

const pod = (index: number, status: V1Pod['status']): V1Pod => ({
  metadata: {
    name: `sweep-${index}-abc`,
    annotations: { 'batch.kubernetes.io/job-completion-index': String(index) },
  },
  ...(status === undefined ? {} : { status }),
});
const waiting = (reason: string, message: string): V1Pod =>
  pod(3, {
    phase: 'Pending',
    containerStatuses: [
      {
        ...{ name: 'sweep', image: 'node', imageID: '', ready: false, restartCount: 0 },
        state: { waiting: { reason, message } },
      },
    ],
  });

test('a shard is done by whichever of its pods succeeded', () => {
  const unscheduled = pod(2, {
    phase: 'Pending',
    conditions: [{ type: 'PodScheduled', status: 'False', message: '0/1 nodes: too little cpu' }],
  });
  const pods = [
    pod(0, { phase: 'Succeeded' }),
    pod(1, { phase: 'Failed' }),
    pod(1, { phase: 'Running' }),
    unscheduled,
  ];
  expect(shardPods(pods)).toEqual({
    done: new Map([[0, 'sweep-0-abc']]),
    failed: [{ name: 'sweep-1-abc', shard: 1 }],
    running: 1,
    waiting: 1,
    waitsFor: '0/1 nodes: too little cpu',
  });
});

test('a pod that can never start ends the sweep, one that still pulls does not', () => {
  const check = (reason: string): void => mustStart([waiting(reason, 'why')], 'node:24', 'kubectl');
  expect(() => check('ContainerCreating')).not.toThrow();
  expect(() => check('ErrImagePull')).not.toThrow();
  expect(() => check('ImagePullBackOff')).toThrow(
    expect.objectContaining({ code: 'IMAGE_MISSING', exitCode: 4 }),
  );
  expect(() => check('CreateContainerConfigError')).toThrow(
    expect.objectContaining({ code: 'POD_REFUSED' }),
  );
});

test('how the Job ended is read from its conditions', () => {
  const job = (type: string, status: string): Parameters<typeof isJobComplete>[0] => ({
    status: { conditions: [{ type, status, reason: 'BackoffLimitExceeded', message: 'm' }] },
  });
  expect(isJobComplete(job('Complete', 'True'))).toBe(true);
  expect(isJobComplete(job('Failed', 'True'))).toBe(false);
  expect(failureOf(job('Failed', 'True'))).toBe('BackoffLimitExceeded: m');
  expect(failureOf(job('Failed', 'False'))).toBeUndefined();
  expect(failureOf({})).toBeUndefined();
});
