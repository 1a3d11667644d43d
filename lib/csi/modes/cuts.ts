/** How a detach cuts the node off: at once, by the array itself a while later, or where it is tainted. */
import { status } from '@grpc/grpc-js';
import type { Cut } from '../../disk-modes/mode.ts';
import { describeError } from '../../errors.ts';
import { outOfServiceKey } from '../../taints.ts';
import { CallError } from '../grpc.ts';
import { type CutDevice, fence } from '../paths.ts';
import type { DetachRequest } from './request.ts';

/** Each resolves to what is cut by now. */
export const cuts: Readonly<Record<Cut, (request: DetachRequest) => Promise<CutDevice[]>>> = {
  'before-answer': ({ backend, volume, attachment }) => fence(backend, { volume, attachment }),

  /** By the array, so that no death of the driver keeps the cut from coming. */
  async 'after-answer'({ backend, volume, attachment, attributes, notes }) {
    const paths = await fence(backend, { volume, attachment }, attributes.cutAfterMs);
    notes['cutAfterMs'] = attributes.cutAfterMs;
    notes['toBeCut'] = paths.map(({ generation }) => generation);
    return [];
  },

  async 'where-out-of-service'(request) {
    const outOfService = (await taintsOf(request)).includes(outOfServiceKey);
    request.notes['outOfServiceTaint'] = outOfService;
    return outOfService ? cuts['before-answer'](request) : [];
  },
};

/** Where Kubernetes does not answer, the detach fails: nobody knows whether the node should be cut. */
async function taintsOf({ taints, node }: DetachRequest): Promise<readonly string[]> {
  try {
    return await taints.keysOf(node);
  } catch (error) {
    const why = describeError(error).replaceAll(/\s*\n\s*/g, '; ');
    throw new CallError(status.UNAVAILABLE, `the taints of ${node} are not known: ${why}`);
  }
}
