/**
 * The attach/detach controller's operations on one volume: one at a time, or one a node where it is
 * declared for many; one that failed is not begun again before its back-off is over, except by another
 * kind of operation (nestedpendingoperations.go Run).
 */
import type { AttachmentObject, NodeObject } from '../api-objects.ts';
import { BackOff } from '../back-off.ts';
import { kubernetesTimes } from '../timings.ts';
import type { ControllerContext } from './controller.ts';

type OperationName = 'attach' | 'detach';
export type PollState = 'done' | 'failed' | 'waiting';

/** `look`: a pass at that time may find work. */
export class Operations {
  readonly #context: ControllerContext;
  readonly #volume: number;
  readonly #look: (atUs: number) => void;
  /** By node, or under one key where the volume is for one. */
  readonly #all = new Map<number, VolumeOperation>();

  constructor(context: ControllerContext, volume: number, look: (atUs: number) => void) {
    this.#context = context;
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
    const { nowUs } = this.#context.world.kernel;
    if (last.name !== name || nowUs >= last.retryAtUs) return true;
    this.#look(last.retryAtUs);
    return false;
  }

  start(name: OperationName, node: NodeObject): VolumeOperation {
    const key = this.#key(node);
    const last = this.#all.get(key);
    const backOff = last?.name === name ? last.backOff : new BackOff(kubernetesTimes.volumeBackOff);
    const operation = new VolumeOperation(this.#context, name, backOff, (isDone) => {
      if (isDone) this.#all.delete(key);
      this.#look(this.#context.world.kernel.nowUs);
    });
    this.#all.set(key, operation);
    return operation;
  }

  #key({ index }: NodeObject): number {
    return this.#context.world.of(this.#volume).forMany ? index : -1;
  }
}

export class VolumeOperation {
  readonly name: OperationName;
  readonly backOff: BackOff;
  pending = true;
  retryAtUs = 0;
  readonly #context: ControllerContext;
  readonly #onEnd: (isDone: boolean) => void;

  constructor(
    context: ControllerContext,
    name: OperationName,
    backOff: BackOff,
    onEnd: (isDone: boolean) => void,
  ) {
    this.#context = context;
    this.name = name;
    this.backOff = backOff;
    this.#onEnd = onEnd;
  }

  fail(): void {
    this.pending = false;
    this.retryAtUs = this.#context.world.kernel.nowUs + this.backOff.next();
    this.#onEnd(false);
  }

  /** Looks at the attachment's status as csi_attacher.go does; `then` comes before the operation ends. */
  poll(look: () => PollState, then: (isDone: boolean) => void): void {
    const { world, process, chance } = this.#context;
    const { attachmentPollUs, attachmentPollGrowth, attachmentPollJitter } = kubernetesTimes;
    const { attachmentPollMaxUs, attachmentTimeoutUs } = kubernetesTimes;
    const endUs = world.kernel.nowUs + attachmentTimeoutUs;
    const again = (intervalUs: number): void => {
      const jitter = 1 + chance.float() * attachmentPollJitter;
      process.after(intervalUs * jitter, () => {
        const state = world.kernel.nowUs < endUs ? look() : 'failed';
        if (state === 'waiting') {
          again(Math.min(attachmentPollMaxUs, intervalUs * attachmentPollGrowth));
          return;
        }
        then(state === 'done');
        if (state === 'failed') this.fail();
        else {
          this.pending = false;
          this.#onEnd(true);
        }
      });
    };
    again(attachmentPollUs);
  }
}

/** Reads it as csi_attacher.go verifyAttachmentStatus does. */
export function attachState(attachment: AttachmentObject | undefined): PollState {
  if (attachment === undefined || attachment.deleting || attachment.attachFailed) return 'failed';
  return attachment.attached ? 'done' : 'waiting';
}

export function detachState(attachment: AttachmentObject | undefined): PollState {
  if (attachment === undefined) return 'done';
  return attachment.detachFailed ? 'failed' : 'waiting';
}
