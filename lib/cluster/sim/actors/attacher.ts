/**
 * The CSI attacher with the disk's controller: publishes and unpublishes as attachments come and go,
 * one call at a time for each attachment, not for each volume. What the disk refuses is tried again,
 * ever more slowly.
 */
import { csiCalls } from '../../../history/observations.ts';
import type { AttachmentObject } from '../api-objects.ts';
import type { Watcher } from '../api.ts';
import { BackOff } from '../back-off.ts';
import { modes, type Refusal } from '../disk/modes.ts';
import type { Volume } from '../disk/volume.ts';
import { notices } from '../notices.ts';
import { kubernetesTimes, measuredTimes } from '../timings.ts';
import type { World } from '../world.ts';
import type { ControllerContext } from './controller.ts';
import { seeCall, seeWritten } from './sightings.ts';

/** What the attacher is at with one attachment; while it backs off that counts as under way. */
interface Work {
  busy: boolean;
  readonly backOff: BackOff;
}

export interface AttacherOptions extends ControllerContext {
  /** By number. */
  readonly volumes: readonly Volume[];
}

export class Attacher implements Watcher {
  readonly #options: AttacherOptions;
  readonly #work = new Map<AttachmentObject, Work>();

  constructor(options: AttacherOptions) {
    this.#options = options;
    for (const attachment of options.world.api.attachments) this.attachment(attachment);
  }

  attachment(attachment: AttachmentObject): void {
    const { process, chance } = this.#options;
    if (!this.#hasWork(attachment)) return;
    process.after(chance.within(measuredTimes.watchDelay), () => this.#reconcile(attachment));
  }

  #hasWork(attachment: AttachmentObject): boolean {
    if (this.#work.get(attachment)?.busy === true) return false;
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
    work.busy = true;
    const { deleting } = attachment;
    process.after(chance.within(measuredTimes.controllerCall), () => {
      const error = deleting
        ? this.#unpublish(attachment, volume, beganAtUs)
        : this.#publish(attachment, volume, beganAtUs);
      if (error === undefined) {
        work.busy = false;
        work.backOff.reset();
        this.attachment(attachment);
        return;
      }
      const call = deleting ? csiCalls.unpublish : csiCalls.publish;
      seeCall(world, call, attachment.node.name, beganAtUs, { error });
      if (deleting) world.api.failDetach(attachment);
      else world.api.failAttach(attachment);
      process.after(work.backOff.next(), () => {
        work.busy = false;
        this.#reconcile(attachment);
      });
    });
  }

  #publish(attachment: AttachmentObject, volume: Volume, beganAtUs: number): Refusal {
    const { world } = this.#options;
    const node = attachment.node.name;
    seeWritten(world, volume);
    const refusal =
      heldElsewhere(world, volume, node) ??
      modes[world.settings.disk].attach?.({ world, volume, node });
    if (refusal !== undefined) return refusal;
    const { generation } = volume.publish(node);
    seeCall(world, csiCalls.publish, node, beganAtUs, { generation });
    world.notice(notices.published, attachment.node.index, attachment.volume);
    world.api.setAttachmentAttached(attachment);
    return undefined;
  }

  #unpublish(attachment: AttachmentObject, volume: Volume, beganAtUs: number): Refusal {
    const { world } = this.#options;
    const node = attachment.node.name;
    const refusal = modes[world.settings.disk].detach?.({ world, volume, node });
    if (refusal !== undefined) return refusal;
    volume.unpublish(node);
    seeCall(world, csiCalls.unpublish, node, beganAtUs);
    world.notice(notices.unpublished, attachment.node.index, attachment.volume);
    world.api.removeAttachment(attachment);
    return undefined;
  }

  #workOn(attachment: AttachmentObject): Work {
    const known = this.#work.get(attachment);
    if (known !== undefined) return known;
    const work = { busy: false, backOff: new BackOff(kubernetesTimes.attacherBackOff) };
    this.#work.set(attachment, work);
    return work;
  }
}

/** The storage counts a node for as long as it was not asked to detach it (lib/csi/backend.ts). */
function heldElsewhere({ settings }: World, volume: Volume, node: string): Refusal {
  if (settings.forMany || settings.attachWhileBusy === 'granted') return undefined;
  const holder = volume.others(node).find(({ published }) => published);
  return holder === undefined ? undefined : `the volume is attached to ${holder.node}`;
}
