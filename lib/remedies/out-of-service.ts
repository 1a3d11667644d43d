/**
 * The out-of-service taint (KEP-2268, GA in 1.28): the operator states that the node is down. The
 * pod GC removes its Terminating pods and the attach/detach controller skips the six-minute wait.
 */
import type { Remedy } from './remedy.ts';

/** pkg/apis/core/well_known_labels.go, TaintNodeOutOfService. */
const key = 'node.kubernetes.io/out-of-service';

export const outOfService: Remedy = {
  name: 'out-of-service',
  apply: (testbed, victim) =>
    testbed.kubernetes.taint(victim.node, { key, value: 'nodeshutdown', effect: 'NoExecute' }),
  undo: (testbed, victim) => testbed.kubernetes.untaint(victim.node, key),
};
