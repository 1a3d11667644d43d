/** The remedies by name, and when they act: what the rest must know of each. */

/** pkg/apis/core/well_known_labels.go, TaintNodeOutOfService. */
export const outOfServiceKey = 'node.kubernetes.io/out-of-service';

/** Each with what is done; Markdown, for the page. A seed of the sweep draws by this order: a new one goes last. */
export const remedyDeclarations = [
  { name: 'none', does: 'nothing' },
  {
    name: 'force-delete',
    does: 'the pod is deleted with grace period 0; the forced detach follows six minutes later',
  },
  {
    name: 'out-of-service',
    does: `the node gets the taint \`${outOfServiceKey}\`; the volume is detached within seconds, with no wait for an unmount`,
  },
  {
    name: 'delete-node',
    does: 'the Node object is deleted; its pods are orphans, which Kubernetes removes after 40 to 80 s',
  },
  {
    name: 'drain',
    does: '`kubectl drain` with a time limit; on a node that is off it waits for its kubelet in vain',
  },
  {
    name: 'delete',
    does: 'the pod is deleted as usual, and waits for its kubelet to confirm',
  },
  {
    name: 'fence-first',
    does: 'the node’s paths are cut at the backend, that is verified, and only then the node is tainted out-of-service',
  },
  { name: 'delete-attachment', does: 'the victim’s VolumeAttachment is deleted by hand' },
  {
    name: 'strip-attachment-finalizer',
    does: 'the same, and its finalizer is taken away: where no attacher runs (`also attacher-down`), the storage is never asked to detach; one that runs acts within a tenth of a second and may be faster',
  },
  {
    name: 'strip-pod-finalizer',
    does: 'the pod is force-deleted, and the finalizer that holds it (`workload.finalizer`) is taken away',
  },
] as const;

export type RemedyKind = (typeof remedyDeclarations)[number]['name'];
export const remedyKinds: readonly RemedyKind[] = remedyDeclarations.map(({ name }) => name);

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
