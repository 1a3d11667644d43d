/**
 * The node lifecycle controller: a node whose lease no tick saw renewed for the grace period is
 * Unknown, tainted unreachable, and its pods are not ready (node_lifecycle_controller.go). Its ticks
 * are a grid (5 s, stock) that begins with the leader; only those that find something have a moment.
 *
 * Since 1.37 a lease that was written to after the renewal that a tick saw, by whomever, looks like a
 * stale cache: every tick skips its node, until it is renewed or another leader sees it anew. A pass
 * that waits for the cache skips all nodes; here the cache is there again by the next one.
 */
import { listedReady, type NodeObject, type Taint, unreachableKey } from '../api-objects.ts';
import type { ApiWatcher } from '../api-watchers.ts';
import { notices } from '../notices.ts';
import { kubernetesTimes, measuredTimes } from '../timings.ts';
import { onGrid } from '../world.ts';
import { type ControllerContext, gridPhaseUs, type LeaderContext } from './controller.ts';

const noSchedule: Taint = { key: unreachableKey, effect: 'NoSchedule' };

export class NodeMonitor implements ApiWatcher {
  readonly #context: LeaderContext;
  readonly #phaseUs: number;
  readonly #tainter: NodeTainter;
  /** By node: grows with each change of its lease, so that an older deadline no longer counts. */
  readonly #silences: number[] = [];
  /** Nodes silent for the grace period: up to when the tick that saw the last renewal knew the lease. */
  readonly #knownUntilUs = new Map<NodeObject, number>();

  constructor(context: LeaderContext) {
    this.#context = context;
    const { world } = context;
    this.#phaseUs = gridPhaseUs(context, world.settings.nodeMonitorUs);
    this.#tainter = new NodeTainter({
      ...context,
      // A look that saw it Ready throws it out of the queue: a tick must find it again.
      findAgain: (node) => this.#judgeAtNextTick(node),
    });
    for (const node of world.api.nodes) {
      this.lease(node);
      this.node(node);
    }
  }

  /** The grace period runs from the tick that saw the last renewal, not from the renewal. */
  lease(node: NodeObject): void {
    const silence = (this.#silences[node.index] ?? 0) + 1;
    this.#silences[node.index] = silence;
    this.#knownUntilUs.delete(node);
    const { leaseStoppedAtUs } = node;
    if (leaseStoppedAtUs === undefined) return;
    const { world, chance } = this.#context;
    const watchUs = chance.within(measuredTimes.watchDelay);
    const seenAtUs = this.#tickAfter(leaseStoppedAtUs + watchUs);
    // Passes take a moment, and the period runs from their end: the tick at the grace period is past it.
    const dueUs = this.#tickAfter(seenAtUs + world.settings.graceUs);
    this.#at(dueUs, () => {
      if (this.#silences[node.index] !== silence || !node.exists) return;
      this.#knownUntilUs.set(node, seenAtUs - watchUs);
      if (this.#isSkipped(node)) return;
      world.api.setReady(node, 'Unknown');
      this.#judge(node);
    });
  }

  node(node: NodeObject): void {
    if (!node.exists) return;
    if (this.#isAmiss(node, 'NoSchedule')) this.#keepPodsAwaySoon(node);
    // A leader that began between the two taints queues the node anew (processTaintBaseEviction).
    if (this.#isAmiss(node, 'NoExecute')) this.#judgeAtNextTick(node);
  }

  /** A node that is not Ready has the taint, one that is has not. */
  #isAmiss({ taints, ready }: NodeObject, wanted: Taint['effect']): boolean {
    const isTainted = taints.some(({ key, effect }) => key === unreachableKey && effect === wanted);
    return isTainted === (ready === 'True');
  }

  /** A worker of its own, at once (doNoScheduleTaintingPass). */
  #keepPodsAwaySoon(node: NodeObject): void {
    const { process, chance } = this.#context;
    process.after(chance.within(measuredTimes.watchDelay), () => this.#keepPodsAway(node));
  }

  #keepPodsAway(node: NodeObject): void {
    const others = node.taints.filter(
      ({ key, effect }) => key !== unreachableKey || effect !== 'NoSchedule',
    );
    const taints = node.ready === 'True' ? others : [...others, noSchedule];
    this.#context.world.api.setTaints(node, taints);
  }

  #isSkipped(node: NodeObject): boolean {
    const knownUntilUs = this.#knownUntilUs.get(node);
    if (!this.#context.world.settings.traits.asksLeaseAgain || knownUntilUs === undefined)
      return false;
    return node.leaseWrittenAtUs !== undefined && node.leaseWrittenAtUs > knownUntilUs;
  }

  /** What a tick does about a node, once its condition is as it should be. */
  #judge(node: NodeObject): void {
    if (!node.exists || this.#isSkipped(node)) return;
    const { api } = this.#context.world;
    if (node.ready === 'True') {
      this.#tainter.drop(node);
      const kept = node.taints.filter(
        ({ key, effect }) => key !== unreachableKey || effect !== 'NoExecute',
      );
      api.setTaints(node, kept);
      return;
    }
    this.#tainter.queue(node);
    const { process, chance } = this.#context;
    // One call after the other (MarkPodsNotReady): who acts on the condition may come first.
    process.after(chance.within(measuredTimes.apiCall), () => {
      if (node.ready === 'True') return;
      for (const pod of node.pods) api.setPodReady(pod, false);
    });
  }

  #judgeAtNextTick(node: NodeObject): void {
    this.#at(this.#tickAfter(this.#context.world.kernel.nowUs + 1), () => this.#judge(node));
  }

  #at(atUs: number, work: () => void): void {
    const { world, process } = this.#context;
    process.after(Math.max(0, atUs - world.kernel.nowUs), work);
  }

  /** The first tick from then on. */
  #tickAfter(atUs: number): number {
    return onGrid(atUs, this.#phaseUs, this.#context.world.settings.nodeMonitorUs);
  }
}

const noExecute: Taint = { key: unreachableKey, effect: 'NoExecute' };

interface NodeTainterOptions extends ControllerContext {
  /** The queue has lost the node: it must be queued anew. */
  readonly findAgain: (node: NodeObject) => void;
}

/**
 * The NoExecute taint of nodes that are not Ready: one node of the zone in 10 s, and a look that still
 * saw the node Ready spends that turn for nothing, so that the taint may come 10 s late (seen on kind;
 * node_lifecycle_controller.go doNoExecuteTaintingPass, scheduler/rate_limited_queue.go Try).
 */
class NodeTainter {
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
