/**
 * Where the attach/detach controller thinks that one volume is attached (its actual state of the
 * world): for sure, or uncertain (adc/cache/actual_state_of_world.go attachedConfirmed).
 */
import type { NodeObject } from '../api-objects.ts';
import { notices } from '../notices.ts';
import type { World } from '../world.ts';

export interface AttachedNode {
  readonly node: NodeObject;
  /** It counts against other nodes. */
  confirmed: boolean;
  /** Since when a detach is wanted. */
  awaySinceUs: number | undefined;
}

export class AttachedNodes {
  readonly #world: World;
  /** The volume's number. */
  readonly #volume: number;
  readonly #all: AttachedNode[] = [];

  constructor(world: World, volume: number) {
    this.#world = world;
    this.#volume = volume;
  }

  [Symbol.iterator](): IterableIterator<AttachedNode> {
    return this.#all[Symbol.iterator]();
  }

  on(node: NodeObject): AttachedNode | undefined {
    for (const attached of this.#all) if (attached.node === node) return attached;
    return undefined;
  }

  /** Another node has it for sure. */
  isElsewhere(node: NodeObject): boolean {
    return this.#all.some((attached) => attached.confirmed && attached.node !== node);
  }

  /** What is there already stays as it is. */
  add(node: NodeObject, confirmed: boolean): AttachedNode {
    const known = this.on(node);
    if (known !== undefined) return known;
    const attached: AttachedNode = { node, confirmed: true, awaySinceUs: undefined };
    this.#all.push(attached);
    if (!confirmed) this.setUncertain(attached);
    return attached;
  }

  setUncertain(attached: AttachedNode): void {
    attached.confirmed = false;
    this.#world.notice(notices.uncertain, attached.node.index, this.#volume);
  }

  remove(attached: AttachedNode): void {
    const at = this.#all.indexOf(attached);
    if (at >= 0) this.#all.splice(at, 1);
  }
}
