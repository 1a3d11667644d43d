/**
 * A detach cuts the node off where an administrator has said that it is down, by the out-of-service
 * taint; otherwise it is bookkeeping. A node that is deleted has no taint.
 */
import { diskMode } from './mode.ts';

export const fenceIfOutOfService = diskMode({
  name: 'fence-if-out-of-service',
  does: 'cuts the old node off at a detach only if the node has the out-of-service taint',
  detach: { cuts: 'where-out-of-service' },
});
