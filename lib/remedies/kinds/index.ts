/** The remedies by name: what the rest must know of each. */
import type { KindDeclaration } from '../../fields/of-kinds.ts';
import { outOfServiceKey } from '../../taints.ts';

interface RemedyDeclaration extends KindDeclaration {
  /** What it takes away, or acts on first; `path`: the node's way to the volume. */
  readonly on: 'nothing' | 'pod' | 'node' | 'attachment' | 'path';
  /** Sets the out-of-service taint. */
  readonly taints?: true;
  /** What is done; Markdown, for the page. */
  readonly does: string;
}

/** A seed of the sweep draws by this order: a new one goes last. */
export const remedyDeclarations = [
  { name: 'none', on: 'nothing', does: 'nothing' },
  {
    name: 'force-delete',
    on: 'pod',
    does: 'the pod is deleted with grace period 0; the forced detach follows six minutes later',
  },
  {
    name: 'out-of-service',
    on: 'node',
    taints: true,
    needs: ['node-taint'],
    does: `the node gets the taint \`${outOfServiceKey}\`; the volume is detached within seconds, with no wait for an unmount`,
  },
  {
    name: 'delete-node',
    on: 'node',
    needs: ['node-deletion', 'kubelet-restart'],
    does: 'the Node object is deleted; its pods are orphans, which Kubernetes removes after 40 to 80 s',
  },
  {
    name: 'drain',
    on: 'node',
    needs: ['drain'],
    does: '`kubectl drain` with a time limit; on a node that is off it waits for its kubelet in vain',
  },
  {
    name: 'delete',
    on: 'pod',
    does: 'the pod is deleted as usual, and waits for its kubelet to confirm',
  },
  {
    name: 'fence-first',
    on: 'path',
    taints: true,
    needs: ['fence', 'node-taint'],
    does: 'the node’s paths are cut at the backend, that is verified, and only then the node is tainted out-of-service',
  },
  {
    name: 'delete-attachment',
    on: 'attachment',
    needs: ['attachment-deletion'],
    does: 'the victim’s VolumeAttachment is deleted by hand',
  },
  {
    name: 'strip-attachment-finalizer',
    on: 'attachment',
    needs: ['attachment-deletion'],
    does: 'the same, and its finalizer is taken away: where no attacher runs (`also attacher-down`), the storage is never asked to detach; one that runs acts within a tenth of a second and may be faster',
  },
  {
    name: 'strip-pod-finalizer',
    on: 'pod',
    changes: { podFinalizer: 'strip-pod-finalizer needs a pod that has one: podFinalizer' },
    does: 'the pod is force-deleted, and the finalizer that holds it (`workload.finalizer`) is taken away',
  },
] as const satisfies readonly RemedyDeclaration[];

type Declaration = (typeof remedyDeclarations)[number];
export type RemedyKind = Declaration['name'];
export type RemedyNamed<Name> = Extract<Declaration, { readonly name: Name }>;
export const remedyKinds: readonly RemedyKind[] = remedyDeclarations.map(({ name }) => name);

/** Somebody does something. */
export const actingRemedies = remedyKinds.filter((remedy) => remedy !== 'none');

const tainting = remedyDeclarations.filter((each) => 'taints' in each);
export const taintingRemedies = tainting.map(({ name }) => name);

/** Sets the out-of-service taint. */
export const taints = (remedy: RemedyKind): boolean => tainting.some(({ name }) => name === remedy);

/** What it takes away, or acts on first. */
export const actsOn = (remedy: RemedyKind): Declaration['on'] =>
  remedyDeclarations.find(({ name }) => name === remedy)?.on ?? 'nothing';

/** Acts on the victim's VolumeAttachment. */
export const takesAttachment = (remedy: RemedyKind): boolean => actsOn(remedy) === 'attachment';

/** What it removes is the pod, and nothing but the pod. */
export const removesPod = (remedy: RemedyKind): boolean => actsOn(remedy) === 'pod';
