/**
 * The CSI attacher with the disk's controller: publishes and unpublishes as attachments come and go,
 * one call at a time for each attachment, not for each volume. What the disk refuses is tried again,
 * ever more slowly, and whenever there is news of it besides (external-attacher controller.go).
 */
import { csiCalls } from '../../../history/observations.ts';
import type { AttachmentObject } from '../api-objects.ts';
import type { ApiWatcher } from '../api-watchers.ts';
import { BackOff } from '../back-off.ts';
import { decideAttach, decideDetach, type RefusalMessage } from '../disk/modes.ts';
import type { Volume } from '../disk/volume.ts';
import { notices } from '../notices.ts';
import { kubernetesTimes, measuredTimes } from '../timings.ts';
import { onGrid, type World } from '../world.ts';
import type { ControllerContext } from './controller.ts';
import { seeCall, seeWritten } from './sightings.ts';

/** What the attacher is at with one attachment. */
interface AttacherWork {
  calling: boolean;
  /** A try waits for its time; another failure meanwhile brings no second one (delaying_queue.go). */
  waiting: boolean;
  /** The next telling of all attachments finds it unfinished. */
  resyncDue: boolean;
  /** It has the attacher's finalizer and its node's id. */
  marked: boolean;
  readonly backOff: BackOff;
}

export interface AttacherOptions extends ControllerContext {
  /** By number. */
  readonly volumes: readonly Volume[];
}

export class Attacher implements ApiWatcher {
  readonly #options: AttacherOptions;
  readonly #work = new Map<AttachmentObject, AttacherWork>();
  /** Its informer tells of all attachments on a grid that begins here. */
  readonly #resyncPhaseUs: number;

  constructor(options: AttacherOptions) {
    this.#options = options;
    this.#resyncPhaseUs = options.chance.int(0, kubernetesTimes.attacherResyncUs);
    for (const attachment of options.world.api.attachments) this.attachment(attachment);
  }

  attachment(attachment: AttachmentObject): void {
    const { process, chance } = this.#options;
    if (!this.#hasWork(attachment)) return;
    process.after(chance.within(measuredTimes.watchDelay), () => this.#reconcile(attachment));
  }

  #hasWork(attachment: AttachmentObject): boolean {
    if (this.#work.get(attachment)?.calling === true) return false;
    return attachment.deleting || !attachment.attached;
  }

  #reconcile(attachment: AttachmentObject): void {
    const { world } = this.#options;
    if (world.api.attachment(attachment.volume, attachment.node) !== attachment) {
      this.#work.delete(attachment);
    } else if (this.#hasWork(attachment)) {
      this.#call(attachment);
    }
  }

  #call(attachment: AttachmentObject): void {
    const { world, process, chance, volumes } = this.#options;
    const beganAtUs = world.kernel.nowUs;
    const work = this.#workOn(attachment);
    const volume = volumes[attachment.volume];
    if (volume === undefined) return;
    work.calling = true;
    const { deleting } = attachment;
    // Marking a new one is a change that the attacher itself is told of.
    const isMarking = !deleting && !work.marked;
    work.marked = true;
    process.after(chance.within(measuredTimes.controllerCall), () => {
      const error = deleting
        ? this.#unpublish(attachment, volume, beganAtUs)
        : this.#publish(attachment, volume, beganAtUs);
      if (error === undefined) {
        work.backOff.reset();
      } else {
        const call = deleting ? csiCalls.unpublish : csiCalls.publish;
        seeCall(world, attachment.volume, call, attachment.node.name, beganAtUs, { error });
        if (deleting) world.api.failDetach(attachment);
        else world.api.failAttach(attachment);
        this.#tryLater(attachment, work);
      }
      work.calling = false;
      const isNews = isMarking || deleting !== attachment.deleting;
      if (error === undefined || isNews) this.attachment(attachment);
    });
  }

  #tryLater(attachment: AttachmentObject, work: AttacherWork): void {
    const { world, process } = this.#options;
    const { nowUs } = world.kernel;
    const delayUs = work.backOff.next();
    if (!work.waiting) {
      work.waiting = true;
      process.after(delayUs, () => {
        work.waiting = false;
        this.#reconcile(attachment);
      });
    }
    if (work.resyncDue) return;
    work.resyncDue = true;
    const resyncAtUs = onGrid(nowUs + 1, this.#resyncPhaseUs, kubernetesTimes.attacherResyncUs);
    process.after(resyncAtUs - nowUs, () => {
      work.resyncDue = false;
      this.#reconcile(attachment);
    });
  }

  #publish(attachment: AttachmentObject, volume: Volume, beganAtUs: number): RefusalMessage {
    const { world } = this.#options;
    const node = attachment.node.name;
    seeWritten(world, volume);
    const refusal = heldElsewhere(world, volume, node) ?? decideAttach({ world, volume, node });
    if (refusal !== undefined) return refusal;
    const { generation } = volume.publish(node);
    seeCall(world, attachment.volume, csiCalls.publish, node, beganAtUs, { generation });
    world.notice(notices.published, attachment.node.index, attachment.volume);
    world.api.setAttachmentAttached(attachment);
    return undefined;
  }

  #unpublish(attachment: AttachmentObject, volume: Volume, beganAtUs: number): RefusalMessage {
    const { world } = this.#options;
    const node = attachment.node.name;
    const refusal = decideDetach({ world, volume, node });
    if (refusal !== undefined) return refusal;
    volume.unpublish(node);
    seeCall(world, attachment.volume, csiCalls.unpublish, node, beganAtUs);
    world.notice(notices.unpublished, attachment.node.index, attachment.volume);
    world.api.removeAttachment(attachment);
    return undefined;
  }

  #workOn(attachment: AttachmentObject): AttacherWork {
    const known = this.#work.get(attachment);
    if (known !== undefined) return known;
    const work = {
      ...{ calling: false, waiting: false, resyncDue: false, marked: false },
      backOff: new BackOff(kubernetesTimes.attacherBackOff),
    };
    this.#work.set(attachment, work);
    return work;
  }
}

/** The storage counts a node for as long as it was not asked to detach it (lib/csi/backend.ts). */
function heldElsewhere(world: World, volume: Volume, node: string): RefusalMessage {
  const { forMany, attachWhileBusy } = world.of(volume.index);
  if (forMany || attachWhileBusy === 'granted') return undefined;
  const holder = volume.others(node).find(({ published }) => published);
  return holder === undefined ? undefined : `the volume is attached to ${holder.node}`;
}
