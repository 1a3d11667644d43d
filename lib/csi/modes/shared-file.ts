/**
 * A shared directory without an attach phase, as NFS: the driver files.forcedetach.dev publishes it
 * (files-node.ts), and Kubernetes has nothing to attach. So nobody is asked to detach it either.
 */
import { status } from '@grpc/grpc-js';
import { CallError } from '../grpc.ts';
import type { DetachMode } from './mode.ts';

export const sharedFile: DetachMode = {
  name: 'shared-file',
  stage: refuse,
  detach: refuse,
};

function refuse(): Promise<never> {
  const why = 'a shared directory is never attached: its driver is files.forcedetach.dev';
  return Promise.reject(new CallError(status.FAILED_PRECONDITION, why));
}
