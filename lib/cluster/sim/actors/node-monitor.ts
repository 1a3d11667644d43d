/**
 * The node lifecycle controller: a node whose lease no tick saw renewed for the grace period is
 * Unknown, tainted unreachable, and its pods are not ready (node_lifecycle_controller.go). Its ticks
 * are a grid (5 s, stock) that begins with the leader; only those that find something have a moment.
 *
 * Since 1.37 a lease that was written to after the renewal that a tick saw, by whomever, looks like a
 * stale cache: every tick skips its node, until it is renewed or another leader sees it anew. A pass
 * that waits for the cache skips all nodes; here the cache is there again by the next one.
 */
import { unreachableKey, type NodeObject, type Taint } from '../api-objects.ts';
import type { Watcher } from '../api.ts';
import { measuredTimes } from '../timings.ts';
import { onGrid } from '../world.ts';
import { gridPhaseUs, type LeaderContext } from './controller.ts';
import { NodeTainter } from './node-tainter.ts';

const noSchedule: Taint = { key: unreachableKey, effect: 'NoSchedule' };

export class NodeMonitor implements Watcher {
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
