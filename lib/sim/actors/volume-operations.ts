/**
 * The attach/detach controller's operations on one volume: one at a time, or one a node where it is
 * declared for many; one that failed is not begun again before its back-off is over, except by another
 * kind of operation (nestedpendingoperations.go Run).
 */
import type { AttachmentObject, NodeObject } from '../api-objects.ts';
import { BackOff } from '../process.ts';
import { kubernetesTimes } from '../timings.ts';
import { Controller, type ControllerContext } from './controller.ts';

type OperationName = 'attach' | 'detach';
type PollState = 'done' | 'failed' | 'waiting';

export interface VolumeOperation {
  readonly name: OperationName;
  /** By node, or one for all where the volume is for one. */
  readonly key: number;
  readonly backOff: BackOff;
  pending: boolean;
  retryAtUs: number;
}

/** Reads it as csi_attacher.go verifyAttachmentStatus does. */
const states: Readonly<
  Record<OperationName, (attachment: AttachmentObject | undefined) => PollState>
> = {
  attach(attachment) {
    if (attachment === undefined || attachment.deleting || attachment.attachFailed) return 'failed';
    return attachment.attached ? 'done' : 'waiting';
  },
  detach(attachment) {
    if (attachment === undefined) return 'done';
    return attachment.detachFailed ? 'failed' : 'waiting';
  },
};

export class Operations extends Controller {
  readonly #volume: number;
  readonly #look: (atUs: number) => void;
  readonly #all = new Map<number, VolumeOperation>();

  /** `look`: a pass at that time may find work. */
  constructor(context: ControllerContext, volume: number, look: (atUs: number) => void) {
    super(context);
    this.#volume = volume;
    this.#look = look;
  }

  isPending(node: NodeObject): boolean {
    return this.#all.get(this.#key(node))?.pending === true;
  }

  mayStart(name: OperationName, node: NodeObject): boolean {
    const last = this.#all.get(this.#key(node));
    if (last === undefined) return true;
    if (last.pending) return false;
    if (last.name !== name || this.nowUs >= last.retryAtUs) return true;
    this.#look(last.retryAtUs);
    return false;
  }

  start(name: OperationName, node: NodeObject): VolumeOperation {
    const key = this.#key(node);
    const last = this.#all.get(key);
    const backOff = last?.name === name ? last.backOff : new BackOff(kubernetesTimes.volumeBackOff);
    const operation = { name, key, backOff, pending: true, retryAtUs: 0 };
    this.#all.set(key, operation);
    return operation;
  }

  #key({ index }: NodeObject): number {
    return this.world.of(this.#volume).forMany ? index : -1;
  }

  end(operation: VolumeOperation, isDone: boolean): void {
    operation.pending = false;
    if (isDone) this.#all.delete(operation.key);
    else operation.retryAtUs = this.nowUs + operation.backOff.next();
    this.#look(this.nowUs);
  }

  /** Looks at the attachment's status as csi_attacher.go does; `then` comes before the operation ends. */
  poll(operation: VolumeOperation, node: NodeObject, then: (isDone: boolean) => void): void {
    const { attachmentPollUs, attachmentPollGrowth, attachmentPollJitter } = kubernetesTimes;
    const { attachmentPollMaxUs, attachmentTimeoutUs } = kubernetesTimes;
    const endUs = this.nowUs + attachmentTimeoutUs;
    const again = (intervalUs: number): void => {
      const jitter = 1 + this.chance.float() * attachmentPollJitter;
      this.process.after(intervalUs * jitter, () => {
        const attachment = this.api.attachment(this.#volume, node);
        const state = this.nowUs < endUs ? states[operation.name](attachment) : 'failed';
        if (state === 'waiting') {
          again(Math.min(attachmentPollMaxUs, intervalUs * attachmentPollGrowth));
          return;
        }
        then(state === 'done');
        this.end(operation, state === 'done');
      });
    };
    again(attachmentPollUs);
  }
}
