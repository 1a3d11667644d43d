/** The remedies by name, from what each says of itself, and what the rest must know of each. */
import { plainDelete } from './delete.ts';
import { deleteAttachment } from './delete-attachment.ts';
import { deleteNode } from './delete-node.ts';
import { drain } from './drain.ts';
import { fenceFirst } from './fence-first.ts';
import { forceDelete } from './force-delete.ts';
import { none } from './none.ts';
import { outOfService } from './out-of-service.ts';
import { stripAttachmentFinalizer } from './strip-attachment-finalizer.ts';
import { stripPodFinalizer } from './strip-pod-finalizer.ts';

/** A seed of the sweep draws by this order: a new one goes last. */
export const remedyDeclarations = [
  none,
  forceDelete,
  outOfService,
  deleteNode,
  drain,
  plainDelete,
  fenceFirst,
  deleteAttachment,
  stripAttachmentFinalizer,
  stripPodFinalizer,
] as const;

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

const removing = remedyDeclarations.filter((each) => 'removesPodObject' in each);

/** The pod's object goes, although no kubelet confirms that the pod has stopped. */
export const removesPodObject = (remedy: RemedyKind): boolean =>
  removing.some(({ name }) => name === remedy);

/** What it takes away, or acts on first. */
export const actsOn = (remedy: RemedyKind): Declaration['on'] =>
  remedyDeclarations.find(({ name }) => name === remedy)?.on ?? 'nothing';

/** Acts on the victim's VolumeAttachment. */
export const takesAttachment = (remedy: RemedyKind): boolean => actsOn(remedy) === 'attachment';

/** What it removes is the pod, and nothing but the pod. */
export const removesPod = (remedy: RemedyKind): boolean => actsOn(remedy) === 'pod';
