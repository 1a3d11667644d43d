/** Taints of a node that remedies, the model and the driver in the cluster all know. */

/** pkg/apis/core/well_known_labels.go, TaintNodeOutOfService. */
export const outOfServiceKey = 'node.kubernetes.io/out-of-service';

/** As Kubernetes' documentation has an operator set it. */
export const outOfServiceTaint = {
  key: outOfServiceKey,
  value: 'nodeshutdown',
  effect: 'NoExecute',
} as const;
