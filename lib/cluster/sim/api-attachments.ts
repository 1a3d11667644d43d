/** The part of the model's API that is about attachments, and whom changes are told. */
import { observed } from '../../history/observations.ts';
import type { AttachmentObject, NodeObject } from './api-objects.ts';
import { attachmentSighting, listSighting } from './api-sightings.ts';
import type { Lookout, ApiWatcher, Sighting } from './api-watchers.ts';
import { notices, type NoticeCode, type Notify } from './notices.ts';

const none: readonly AttachmentObject[] = [];
const deaf: ApiWatcher = {};

export class AttachmentStore {
  readonly watchers: ApiWatcher[] = [];
  readonly #lookout: Lookout;
  /** Attachments of each volume, by its number: few, one a node. */
  readonly #ofVolume: AttachmentObject[][] = [];
  /** Those who watch one node's objects alone: its kubelet. */
  readonly #nodeWatchers: ApiWatcher[] = [];

  constructor(lookout: Lookout) {
    this.#lookout = lookout;
  }

  watch(watcher: ApiWatcher): void {
    this.watchers.push(watcher);
  }

  /** Only pods that are bound to this node, and its attachments. */
  watchNode(node: NodeObject, watcher: ApiWatcher): void {
    this.#nodeWatchers[node.index] = watcher;
  }

  get attachments(): readonly AttachmentObject[] {
    return this.#ofVolume.flat();
  }

  attachmentsOf(volume: number): readonly AttachmentObject[] {
    return this.#ofVolume[volume] ?? none;
  }

  attachment(volume: number, node: NodeObject): AttachmentObject | undefined {
    for (const each of this.attachmentsOf(volume)) if (each.node === node) return each;
    return undefined;
  }

  createAttachment(volume: number, node: NodeObject): void {
    const name = `csi-${node.name}${volume === 0 ? '' : `-${volume}`}`;
    const attachment = {
      ...{ name, node, volume },
      ...{ attached: false, deleting: false, attachFailed: false, detachFailed: false },
    };
    (this.#ofVolume[volume] ??= []).push(attachment);
    this.#changed(attachment, observed.attachmentCreated, notices.attachmentCreated);
  }

  setAttachmentAttached(attachment: AttachmentObject): void {
    attachment.attached = true;
    attachment.attachFailed = false;
    this.#changed(attachment, observed.attachmentAttached, notices.attachmentAttached);
  }

  deleteAttachment(attachment: AttachmentObject): void {
    if (attachment.deleting) return;
    attachment.deleting = true;
    this.#changed(attachment, observed.attachmentDeleting, notices.attachmentDeleting);
  }

  /** The attacher notes that the disk refused; it goes on trying. */
  failAttach(attachment: AttachmentObject): void {
    if (attachment.attachFailed) return;
    attachment.attachFailed = true;
    this.notice(notices.publishRefused, attachment.node.index, attachment.volume);
    this.#tell(attachment);
  }

  /** The attacher notes that the disk refused the detach; it goes on trying. */
  failDetach(attachment: AttachmentObject): void {
    if (attachment.detachFailed) return;
    attachment.detachFailed = true;
    this.notice(notices.detachFailed, attachment.node.index, attachment.volume);
    this.#tell(attachment);
  }

  /** Its finalizer is taken away. Idempotent. */
  removeAttachment(attachment: AttachmentObject): void {
    const all = this.#ofVolume[attachment.volume] ?? [];
    const at = all.indexOf(attachment);
    if (at < 0) return;
    all.splice(at, 1);
    this.#changed(attachment, observed.attachmentGone, notices.attachmentGone);
  }

  /** In the list of its node's status; a Node that is gone has none. */
  setAttached(node: NodeObject, volume: number, attached: boolean): void {
    if (!node.exists || node.attached.has(volume) === attached) return;
    if (attached) node.attached.add(volume);
    else node.attached.delete(volume);
    this.seeList(observed.volumesAttached, node, node.attached);
    this.notice(attached ? notices.listed : notices.unlisted, node.index, volume);
    this.tellNode(node);
  }

  protected get nowUs(): number {
    return this.#lookout.kernel.nowUs;
  }

  protected get see(): Lookout['see'] {
    return this.#lookout.see;
  }

  protected get notice(): Notify {
    return this.#lookout.notice;
  }

  protected seeList(name: Sighting['name'], node: NodeObject, volumes: ReadonlySet<number>): void {
    this.see?.(listSighting(name, node, volumes));
  }

  protected tellNode(node: NodeObject): void {
    for (const watcher of this.watchers) watcher.node?.(node);
    this.onNode(node).node?.(node);
  }

  protected onNode(node: NodeObject): ApiWatcher {
    return this.#nodeWatchers[node.index] ?? deaf;
  }

  #changed(attachment: AttachmentObject, name: Sighting['name'], notice: NoticeCode): void {
    this.see?.(attachmentSighting(name, attachment));
    this.notice(notice, attachment.node.index, attachment.volume);
    this.#tell(attachment);
  }

  #tell(attachment: AttachmentObject): void {
    for (const watcher of this.watchers) watcher.attachment?.(attachment);
    this.onNode(attachment.node).attachment?.(attachment);
  }
}
