/** The remedies by name, and when they act: what the rest must know of each. */

/** pkg/apis/core/well_known_labels.go, TaintNodeOutOfService. */
export const outOfServiceKey = 'node.kubernetes.io/out-of-service';

export const remedyKinds = [
  /** Nobody does anything. */
  'none',
  /** The pod object is deleted with grace period 0. */
  'force-delete',
  /** The node is tainted out-of-service. */
  'out-of-service',
  /** The Node object is deleted. */
  'delete-node',
  /** The node is cordoned and its pods are evicted, as `kubectl drain` does. */
  'drain',
  /** The pod is deleted as usual: its kubelet must confirm. */
  'delete',
  /** The victim's paths are cut at the backend, that is verified, then the node is tainted. */
  'fence-first',
  /** The victim's VolumeAttachment is deleted by hand; the attacher still detaches. */
  'delete-attachment',
  /** The same, and its finalizer is taken away: an attacher that is slower never asks the driver. */
  'strip-attachment-finalizer',
  /** The pod is force-deleted, and the finalizer that still holds it is taken away. */
  'strip-pod-finalizer',
] as const;
export type RemedyKind = (typeof remedyKinds)[number];

/** Events a remedy may wait for. */
export const remedyEvents = ['terminating', 'not-ready', 'pod-gone', 'successor-pending'] as const;
export type RemedyEvent = (typeof remedyEvents)[number];

/** Somebody does something. */
export const actingRemedies = remedyKinds.filter((remedy) => remedy !== 'none');

export const taintingRemedies = ['out-of-service', 'fence-first'] as const;

/** Sets the out-of-service taint. */
export const taints = (remedy: RemedyKind): boolean =>
  (taintingRemedies as readonly RemedyKind[]).includes(remedy);

/** Acts on the victim's VolumeAttachment. */
export const takesAttachment = (remedy: RemedyKind): boolean =>
  remedy === 'delete-attachment' || remedy === 'strip-attachment-finalizer';

/** What it removes is the pod, and nothing but the pod. */
export const removesPod = (remedy: RemedyKind): boolean =>
  remedy === 'force-delete' || remedy === 'delete' || remedy === 'strip-pod-finalizer';
