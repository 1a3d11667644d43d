/** The remedies by name, which of them have which trait, and the fields of a scenario that say what an operator does. */
import { remedyEvents, undoEvents } from '../../core/index.ts';
import { choice, eventOr, moment, secondsWithin, toggle, type Dice } from '../field.ts';
import { finderIn } from '../kinds.ts';
import type { RemedyDeclaration } from './kind.ts';
import { plainDelete } from './delete.ts';
import { deleteAttachment } from './delete-attachment.ts';
import { deleteAttachmentAndPod } from './delete-attachment-and-pod.ts';
import { deleteMachine } from './delete-machine.ts';
import { deleteNode } from './delete-node.ts';
import { drain } from './drain.ts';
import { fenceFirst } from './fence-first.ts';
import { forceDelete } from './force-delete.ts';
import { none } from './none.ts';
import { outOfService } from './out-of-service.ts';
import { powerOffAndTaint } from './power-off-and-taint.ts';
import { rolloutRestart } from './rollout-restart.ts';
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
  deleteAttachmentAndPod,
  powerOffAndTaint,
  deleteMachine,
  rolloutRestart,
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
const taintingRemedies = remedyDeclarations
  .filter((each) => 'taints' in each)
  .map(({ name }) => name);

export const taints = (remedy: RemedyKind): boolean => remedyNamed(remedy).taints === true;
export const removesPodObject = (remedy: RemedyKind): boolean =>
  remedyNamed(remedy).removesPodObject === true;
export const switchesOff = (remedy: RemedyKind): boolean =>
  remedyNamed(remedy).endsMachine === true;
export const deletesNode = (remedy: RemedyKind): boolean =>
  remedyNamed(remedy).acts.includes('delete node');
export const actsOn = (remedy: RemedyKind): RemedyDeclaration['on'] => remedyNamed(remedy).on;
export const takesAttachment = (remedy: RemedyKind): boolean => actsOn(remedy) === 'attachment';
/** What it removes is the pod, and nothing but the pod. */
export const removesPod = (remedy: RemedyKind): boolean => actsOn(remedy) === 'pod';

/** Every node but the victim is drained in its course. */
export const emptiesOthers = (scenario: {
  readonly fault: { readonly recreations: number };
  readonly remedy: { readonly sameNode: boolean; readonly moveBack: boolean };
}): boolean =>
  scenario.fault.recreations > 0 || scenario.remedy.sameNode || scenario.remedy.moveBack;

/** Soon, or at any time of the usual waits. */
const whenever = (dice: Dice): number => secondsWithin(0, dice.pick([60, 420]))(dice);

export const remedyFields = {
  kind: choice(remedyKinds, 'none', {
    about: 'what removes the old pod',
    swept: { isAsked: true },
  }),
  at: moment(remedyEvents, 'terminating', {
    about:
      'when the remedy acts: terminating, not-ready, pod-gone, successor-pending (a new pod without a mount), or a time after the fault (400s)',
    of: actingRemedies,
    isHarmless: true,
    swept: { isAsked: true, draw: eventOr(0.5, remedyEvents, whenever) },
  }),
  untaintAt: moment(undoEvents, 'end', {
    about:
      'when the out-of-service taint is removed: end (a database serves again), heal, kept (until the time to converge is over), or a time after the remedy',
    of: taintingRemedies,
    swept: { asksNoRow: true, draw: eventOr(0.5, undoEvents, secondsWithin(0, 60)) },
  }),
  ifOff: toggle(false, {
    flag: 'remedy-if-off',
    about:
      'act only once the node’s machine is off, as the node controllers of a cloud ask before they act',
    of: ['out-of-service', 'delete-node'],
  }),
  sameNode: toggle(false, {
    about:
      'every other node is drained first, as where no other one may take the pod: the new pod comes to the node of the old one',
    of: ['rollout-restart'],
    needs: 'drain',
  }),
  moveBack: toggle(false, {
    about:
      'after the hand-over, drain the successor so that the healed victim gets the volume back',
    of: actingRemedies,
    needs: 'drain',
    swept: { share: 0.15, asksNoRow: true },
  }),
};
