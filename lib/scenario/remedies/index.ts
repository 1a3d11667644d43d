/** The remedies by name, and which of them have which trait. */
import { finderIn } from '../fields/of-kinds.ts';
import type { RemedyDeclaration } from './kind.ts';
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
export const remedyKinds: readonly RemedyKind[] = remedyDeclarations.map(({ name }) => name);

export const remedyNamed: (remedy: RemedyKind) => RemedyDeclaration = finderIn<RemedyDeclaration>(
  'remedy',
  remedyDeclarations,
);

/** All but `none`. */
export const actingRemedies = remedyKinds.filter((remedy) => remedy !== 'none');
export const taintingRemedies = remedyDeclarations
  .filter((each) => 'taints' in each)
  .map(({ name }) => name);

export const taints = (remedy: RemedyKind): boolean => remedyNamed(remedy).taints === true;
export const removesPodObject = (remedy: RemedyKind): boolean =>
  remedyNamed(remedy).removesPodObject === true;
export const actsOn = (remedy: RemedyKind): RemedyDeclaration['on'] => remedyNamed(remedy).on;
export const takesAttachment = (remedy: RemedyKind): boolean => actsOn(remedy) === 'attachment';
/** What it removes is the pod, and nothing but the pod. */
export const removesPod = (remedy: RemedyKind): boolean => actsOn(remedy) === 'pod';
