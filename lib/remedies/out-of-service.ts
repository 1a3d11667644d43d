/**
 * The out-of-service taint (KEP-2268, GA in 1.28): the operator states that the node is down. The
 * pod GC removes its Terminating pods and the attach/detach controller skips the six-minute wait.
 */
import { outOfServiceKey, outOfServiceTaint } from '../taints.ts';
import type { RemedyOf } from './remedy.ts';

export const outOfService: RemedyOf<'out-of-service'> = {
  name: 'out-of-service',
  async apply({ testbed, victim }) {
    await testbed.kubernetes.taint(victim.node, outOfServiceTaint);
    return undefined;
  },
  undo: ({ testbed, victim }) => testbed.kubernetes.untaint(victim.node, outOfServiceKey),
};
