import type { V1Pod } from '@kubernetes/client-node';
import { expect, test } from 'vitest';
import { mustStart } from './run-shards.ts';

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
