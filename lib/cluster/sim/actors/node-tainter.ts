/**
 * The NoExecute taint of nodes that are not Ready: one node of the zone in 10 s, and a look that still
 * saw the node Ready spends that turn for nothing, so that the taint may come 10 s late (seen on kind;
 * node_lifecycle_controller.go doNoExecuteTaintingPass, scheduler/rate_limited_queue.go Try).
 */
import { listedReady, unreachableKey, type NodeObject, type Taint } from '../api-objects.ts';
import { notices } from '../notices.ts';
import { kubernetesTimes, measuredTimes } from '../timings.ts';
import type { ControllerContext } from './controller.ts';

const noExecute: Taint = { key: unreachableKey, effect: 'NoExecute' };

export interface NodeTainterOptions extends ControllerContext {
  /** The queue has lost the node: it must be queued anew. */
  readonly findAgain: (node: NodeObject) => void;
}

export class NodeTainter {
  readonly #options: NodeTainterOptions;
  readonly #queue: NodeObject[] = [];
  /** The next turn is there from then on. */
  #turnAtUs = Number.NEGATIVE_INFINITY;
  #passDue = false;

  constructor(options: NodeTainterOptions) {
    this.#options = options;
  }

  /** Idempotent. */
  queue(node: NodeObject): void {
    if (this.#isTainted(node) || this.#queue.includes(node)) return;
    this.#queue.push(node);
    this.#plan();
  }

  drop(node: NodeObject): void {
    const at = this.#queue.indexOf(node);
    if (at >= 0) this.#queue.splice(at, 1);
  }

  /** The pass runs each 100 ms; the first that has a turn takes the head of the queue. */
  #plan(): void {
    if (this.#passDue || this.#queue.length === 0) return;
    this.#passDue = true;
    const { world, process, chance } = this.#options;
    const waitUs = Math.max(0, this.#turnAtUs - world.kernel.nowUs);
    process.after(waitUs + chance.within(kubernetesTimes.taintPass), () => {
      this.#passDue = false;
      this.#pass();
      this.#plan();
    });
  }

  #pass(): void {
    const { world, chance, findAgain } = this.#options;
    const { nowUs } = world.kernel;
    if (this.#isDisrupted()) {
      this.#turnAtUs = nowUs + world.settings.nodeMonitorUs;
      return;
    }
    const node = this.#queue.shift();
    if (node === undefined || !node.exists) return;
    this.#turnAtUs = nowUs + kubernetesTimes.taintTurnUs;
    if (listedReady(node, nowUs, chance.within(measuredTimes.watchDelay)) === 'True') {
      world.notice(notices.taintTurnLost, node.index, -1);
      findAgain(node);
      return;
    }
    world.api.setTaints(node, [...node.taints, noExecute]);
  }

  /** So much of a small zone is not Ready that its rate is 0. The control plane's own node is Ready. */
  #isDisrupted(): boolean {
    const { disruptedNodes, disruptedShare, smallZone } = kubernetesTimes;
    const nodes = this.#options.world.api.nodes.filter(({ exists }) => exists);
    const size = nodes.length + 1;
    if (size > smallZone) return false;
    const gone = nodes.filter(({ ready }) => ready !== 'True').length;
    return gone >= disruptedNodes && gone / size >= disruptedShare;
  }

  #isTainted({ taints }: NodeObject): boolean {
    return taints.some(({ key, effect }) => key === unreachableKey && effect === 'NoExecute');
  }
}
