/**
 * The node lifecycle controller: a node whose lease no tick saw renewed for the grace period is
 * Unknown, tainted unreachable, and its pods are not ready (node_lifecycle_controller.go). Its ticks
 * are a grid (5 s, stock) that begins with the leader; only those that find something have a moment.
 *
 * Since 1.37 a lease that was written to after the renewal that a tick saw, by whomever, looks like a
 * stale cache: every tick skips its node, until it is renewed or another leader sees it anew. A pass
 * that waits for the cache skips all nodes; here the cache is there again by the next one.
 *
 * The NoExecute taint comes to one node of the zone in 10 s, and a look that still saw the node Ready
 * spends that turn for nothing, so that the taint may come 10 s late (seen on kind; doNoExecuteTaintingPass,
 * scheduler/rate_limited_queue.go Try).
 */
import { isLossTaint, lossTaints, taintRate, zoneLimits } from '../../core/index.ts';
import {
  listedReady,
  type ApiWatcher,
  type NodeObject,
  type Taint,
  notices,
} from '../sightings.ts';
import { kubernetesTimes, measuredTimes, secondUs } from '../timings.ts';
import { onGrid } from '../world.ts';
import { Controller, type ControllerContext } from './controllers.ts';

type Effect = Taint['effect'];
const taintTurnUs = secondUs / zoneLimits.evictionRate;

export class NodeMonitor extends Controller implements ApiWatcher {
  readonly #phaseUs = this.gridPhaseUs(this.world.settings.nodeMonitorUs);
  /** By node: grows with each change of its lease, so that an older deadline no longer counts. */
  readonly #silences: number[] = [];
  /** Nodes silent for the grace period: up to when the tick that saw the last renewal knew the lease. */
  readonly #knownUntilUs = new Map<NodeObject, number>();
  readonly #queue: NodeObject[] = [];
  /** The queue's next turn is there from then on. */
  #turnAtUs = Number.NEGATIVE_INFINITY;
  #passDue = false;

  constructor(context: ControllerContext) {
    super(context);
    for (const node of this.api.nodes) {
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
    const watchUs = this.chance.within(measuredTimes.watchDelay);
    const seenAtUs = this.#tickAfter(leaseStoppedAtUs + watchUs);
    // Passes take a moment, and the period runs from their end: the tick at the grace period is past it.
    this.at(this.#tickAfter(seenAtUs + this.world.settings.graceUs), () => {
      if (this.#silences[node.index] !== silence || !node.exists) return;
      this.#knownUntilUs.set(node, seenAtUs - watchUs);
      if (this.#isSkipped(node)) return;
      const wasReady = node.ready === 'True';
      this.api.setReady(node, 'Unknown');
      this.#judge(node);
      if (wasReady) this.#markPods(node);
    });
  }

  /**
   * One call after the other (MarkPodsNotReady): who acts on the condition may come first. Not where the
   * kubelet itself said so before (monitorNodeHealth looks at the condition that it found).
   */
  #markPods(node: NodeObject): void {
    this.after(measuredTimes.apiCall, () => {
      if (node.ready === 'True') return;
      for (const pod of node.pods) this.api.setPodReady(pod, false);
    });
  }

  node(node: NodeObject): void {
    if (!node.exists) return;
    const isAmiss = (effect: Effect): boolean => has(node, effect) === (node.ready === 'True');
    // A worker of its own, at once (doNoScheduleTaintingPass).
    if (isAmiss('NoSchedule'))
      this.after(measuredTimes.watchDelay, () => this.#setTaint(node, 'NoSchedule'));
    // A leader that began between the two taints queues the node anew (processTaintBaseEviction).
    if (isAmiss('NoExecute')) this.#judgeAtNextTick(node);
  }

  /** Of its condition, in place of what stood there (SwapNodeControllerTaint). */
  #setTaint(node: NodeObject, effect: Effect): void {
    const others = node.taints.filter((each) => !isLossTaint(each.key) || each.effect !== effect);
    const own = node.ready === 'True' ? [] : [{ key: lossTaints[node.ready], effect }];
    this.api.setTaints(node, [...others, ...own]);
  }

  #isSkipped(node: NodeObject): boolean {
    const knownUntilUs = this.#knownUntilUs.get(node);
    if (!this.world.settings.traits.asksLeaseAgain || knownUntilUs === undefined) return false;
    return node.leaseWrittenAtUs !== undefined && node.leaseWrittenAtUs > knownUntilUs;
  }

  /** What a tick does about a node, once its condition is as it should be. */
  #judge(node: NodeObject): void {
    if (!node.exists || this.#isSkipped(node)) return;
    if (node.ready === 'True') {
      const at = this.#queue.indexOf(node);
      if (at >= 0) this.#queue.splice(at, 1);
      this.#setTaint(node, 'NoExecute');
      return;
    }
    if (!has(node, 'NoExecute') && !this.#queue.includes(node)) {
      this.#queue.push(node);
      this.#planPass();
    }
  }

  #judgeAtNextTick(node: NodeObject): void {
    this.at(this.#tickAfter(this.nowUs + 1), () => this.#judge(node));
  }

  #tickAfter(atUs: number): number {
    return onGrid(atUs, this.#phaseUs, this.world.settings.nodeMonitorUs);
  }

  /** The pass runs each 100 ms; the first that has a turn takes the head of the queue. */
  #planPass(): void {
    if (this.#passDue || this.#queue.length === 0) return;
    this.#passDue = true;
    const waitUs = Math.max(0, this.#turnAtUs - this.nowUs);
    this.process.after(waitUs + this.chance.within(kubernetesTimes.taintPass), () => {
      this.#passDue = false;
      this.#pass();
      this.#planPass();
    });
  }

  #pass(): void {
    if (this.#isDisrupted()) {
      this.#turnAtUs = this.nowUs + this.world.settings.nodeMonitorUs;
      return;
    }
    const node = this.#queue.shift();
    if (node === undefined || !node.exists) return;
    this.#turnAtUs = this.nowUs + taintTurnUs;
    const lagUs = this.chance.within(measuredTimes.watchDelay);
    if (listedReady(node, this.nowUs, lagUs) !== 'True') {
      this.#setTaint(node, 'NoExecute');
      return;
    }
    this.world.notice(notices.taintTurnLost, node.index, -1);
    // A look that saw it Ready throws it out of the queue: a tick must find it again.
    this.#judgeAtNextTick(node);
  }

  /** So much of a small zone is not Ready that its rate is 0. The control plane's own node is Ready. */
  #isDisrupted(): boolean {
    const nodes = this.api.nodes.filter(({ exists }) => exists);
    const lost = nodes.filter(({ ready }) => ready !== 'True').length;
    return taintRate(nodes.length + 1 - lost, lost) === 0;
  }
}

/** The taint of its condition; of a Ready node, any that it should not have. */
const has = ({ ready, taints }: NodeObject, wanted: Effect): boolean =>
  taints.some(
    ({ key, effect }) =>
      effect === wanted && (ready === 'True' ? isLossTaint(key) : key === lossTaints[ready]),
  );
