/**
 * The CSI attacher with the disk's controller: publishes and unpublishes as attachments come and go,
 * one call at a time for each attachment, not for each volume. What the disk refuses is tried again,
 * ever more slowly, and whenever there is news of it besides (external-attacher controller.go).
 */
import { type ApiWatcher, type AttachmentObject, notices, seeWritten } from '../sightings.ts';
import { type CallNotes, perform } from '../disk/calls.ts';
import { decideAttach, decideDetach, type RefusalMessage } from '../disk/modes.ts';
import type { Volume } from '../disk/volume.ts';
import { BackOff } from '../kernel.ts';
import { kubernetesTimes, measuredTimes } from '../timings.ts';
import { onGrid } from '../world.ts';
import { Controller, type ControllerContext } from './controllers.ts';

class AttacherWork {
  calling = false;
  /** A try waits for its time; another failure meanwhile brings no second one (delaying_queue.go). */
  waiting = false;
  /** The informer's next round of all attachments finds it unfinished. */
  resyncDue = false;
  /** It has the attacher's finalizer and its node's id. */
  marked = false;
  readonly backOff = new BackOff(kubernetesTimes.attacherBackOff);
}

export class Attacher extends Controller implements ApiWatcher {
  readonly #volumes: readonly Volume[];
  readonly #work = new Map<AttachmentObject, AttacherWork>();
  /** Its informer names all attachments on a grid that begins here. */
  readonly #resyncPhaseUs = this.chance.int(0, kubernetesTimes.attacherResyncUs);

  constructor(context: ControllerContext, volumes: readonly Volume[]) {
    super(context);
    this.#volumes = volumes;
    for (const attachment of this.api.attachments) this.attachment(attachment);
  }

  attachment(attachment: AttachmentObject): void {
    if (!this.#hasWork(attachment)) return;
    this.after(measuredTimes.watchDelay, () => this.#reconcile(attachment));
  }

  #hasWork(attachment: AttachmentObject): boolean {
    if (this.#work.get(attachment)?.calling === true) return false;
    return attachment.deleting || !attachment.attached;
  }

  #reconcile(attachment: AttachmentObject): void {
    if (this.api.attachment(attachment.volume, attachment.node) !== attachment) {
      this.#work.delete(attachment);
    } else if (this.#hasWork(attachment)) {
      this.#call(attachment);
    }
  }

  #call(attachment: AttachmentObject): void {
    const beganAtUs = this.nowUs;
    const { deleting } = attachment;
    const work = this.#work.get(attachment) ?? new AttacherWork();
    this.#work.set(attachment, work);
    const volume = this.#volumes[attachment.volume];
    if (volume === undefined) return;
    work.calling = true;
    // Marking a new one is a change that the attacher itself hears of.
    const isMarking = !deleting && !work.marked;
    work.marked = true;
    const answered = (error: RefusalMessage): void => {
      if (error === undefined) {
        work.backOff.reset();
        if (deleting) this.api.removeAttachment(attachment);
        else this.api.setAttachmentAttached(attachment);
      } else {
        this.api.setFailed(attachment, deleting ? 'detach' : 'attach', error);
        this.#tryLater(attachment, work);
      }
      work.calling = false;
      const isNews = isMarking || deleting !== attachment.deleting;
      if (error === undefined || isNews) this.attachment(attachment);
    };
    const { world } = this;
    this.after(measuredTimes.controllerCall, () =>
      perform(
        {
          ...{ world, volume, call: deleting ? 'unpublish' : 'publish', beganAtUs },
          ...{ node: attachment.node, timeoutUs: kubernetesTimes.attacherTimeoutUs },
          caller: (delayUs, run) => this.process.after(delayUs, run),
          driver: (delayUs, run) => world.kernel.schedule(delayUs, run),
        },
        (end) =>
          end(deleting ? this.#unpublish(attachment, volume) : this.#publish(attachment, volume)),
        answered,
      ),
    );
  }

  #tryLater(attachment: AttachmentObject, work: AttacherWork): void {
    const delayUs = work.backOff.next();
    if (!work.waiting) {
      work.waiting = true;
      this.process.after(delayUs, () => {
        work.waiting = false;
        this.#reconcile(attachment);
      });
    }
    if (work.resyncDue) return;
    work.resyncDue = true;
    this.at(onGrid(this.nowUs + 1, this.#resyncPhaseUs, kubernetesTimes.attacherResyncUs), () => {
      work.resyncDue = false;
      this.#reconcile(attachment);
    });
  }

  #publish({ node }: AttachmentObject, volume: Volume): CallNotes {
    const { world } = this;
    seeWritten(world, volume);
    const error =
      this.#heldElsewhere(volume, node.name) ?? decideAttach({ world, volume, node: node.name });
    if (error !== undefined) return { error };
    const { generation } = volume.publish(node.name);
    world.notice(notices.published, node.index, volume.index);
    return { generation };
  }

  #unpublish({ node }: AttachmentObject, volume: Volume): CallNotes {
    const { world } = this;
    const error = decideDetach({ world, volume, node: node.name });
    if (error !== undefined) return { error };
    volume.unpublish(node.name);
    world.notice(notices.unpublished, node.index, volume.index);
    return {};
  }

  /** The storage counts a node for as long as it was not asked to detach it (lib/storage/csi/backend.ts). */
  #heldElsewhere(volume: Volume, node: string): RefusalMessage {
    const { forMany, disk } = this.world.of(volume.index);
    if (forMany || disk.attachWhileBusy === 'granted') return undefined;
    const holder = volume.others(node).find(({ published }) => published);
    return holder === undefined ? undefined : `the volume is attached to ${holder.node}`;
  }
}
