/**
 * A detach cuts the node off where an administrator has said that it is down, by the out-of-service
 * taint; otherwise it is bookkeeping. A node that is deleted has no taint. Where Kubernetes does not
 * answer, the detach fails: nobody knows whether the node should be cut.
 */
import { status } from '@grpc/grpc-js';
import { describeError } from '../../errors.ts';
import { CallError } from '../grpc.ts';
import { fence } from '../paths.ts';
import type { DetachMode, DetachRequest } from './mode.ts';

/** From k8s.io/api/core/v1, well_known_taints.go: TaintNodeOutOfService. */
const outOfServiceTaint = 'node.kubernetes.io/out-of-service';

export const fenceIfOutOfService: DetachMode = {
  name: 'fence-if-out-of-service',
  async detach(request) {
    const { backend, volume, attachment, notes } = request;
    const outOfService = (await keysOf(request)).includes(outOfServiceTaint);
    notes['outOfServiceTaint'] = outOfService;
    return outOfService ? fence(backend, { volume, attachment }) : [];
  },
};

async function keysOf({ taints, node }: DetachRequest): Promise<readonly string[]> {
  try {
    return await taints.keysOf(node);
  } catch (error) {
    const why = describeError(error).replaceAll(/\s*\n\s*/g, '; ');
    throw new CallError(status.UNAVAILABLE, `the taints of ${node} are not known: ${why}`);
  }
}
