/** Taints of a node that remedies, the model and the driver in the cluster all know. */

/** pkg/apis/core/well_known_labels.go, TaintNodeOutOfService. */
export const outOfServiceKey = 'node.kubernetes.io/out-of-service';

/** Taint that Kubernetes' documentation has an operator set. */
export const outOfServiceTaint = {
  key: outOfServiceKey,
  value: 'nodeshutdown',
  effect: 'NoExecute',
} as const;
