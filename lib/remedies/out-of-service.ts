/**
 * The out-of-service taint (KEP-2268, GA in 1.28): the operator states that the node is down. The
 * pod GC removes its Terminating pods and the attach/detach controller skips the six-minute wait.
 */
import { outOfServiceKey } from '../remedy-kinds.ts';
import type { Remedy } from './remedy.ts';

export const outOfService: Remedy = {
  name: 'out-of-service',
  async apply({ testbed, victim }) {
    const taint = { key: outOfServiceKey, value: 'nodeshutdown', effect: 'NoExecute' } as const;
    await testbed.kubernetes.taint(victim.node, taint);
    return undefined;
  },
  undo: ({ testbed, victim }) => testbed.kubernetes.untaint(victim.node, outOfServiceKey),
};
