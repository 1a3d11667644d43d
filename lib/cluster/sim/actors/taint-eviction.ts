/**
 * The taint eviction controller: deletes the pods of a node with a NoExecute taint once their
 * toleration is over; counted from when it sees the taint, forgotten when the taint goes, and counted
 * anew by a new leader (pkg/controller/tainteviction).
 */
import { unreachableKey, type NodeObject, type PodObject } from '../api-objects.ts';
import type { ApiWatcher } from '../api-watchers.ts';
import { measuredTimes, secondUs } from '../timings.ts';
import type { ControllerContext } from './controller.ts';

/** An eviction that is planned; one that is no longer in the map never comes. */
type EvictionPlan = object;

/** Pods tolerate the unreachable taint for `tolerationSeconds`, others not at all. */
export class TaintEviction implements ApiWatcher {
  readonly #context: ControllerContext;
  readonly #plans = new Map<PodObject, EvictionPlan>();

  constructor(context: ControllerContext) {
    this.#context = context;
    for (const node of context.world.api.nodes) this.node(node);
  }

  node(node: NodeObject): void {
    for (const pod of node.pods) this.pod(pod);
  }

  pod(pod: PodObject): void {
    const { process, chance } = this.#context;
    if (!this.#plans.has(pod) && !this.#isPushed(pod)) return;
    process.after(chance.within(measuredTimes.watchDelay), () => this.#consider(pod));
  }

  #isPushed({ node }: PodObject): boolean {
    return node?.exists === true && node.taints.some(({ effect }) => effect === 'NoExecute');
  }

  #consider(pod: PodObject): void {
    const { world } = this.#context;
    const { api } = world;
    if (!api.pods.has(pod) || pod.terminating || !this.#isPushed(pod)) {
      this.#plans.delete(pod);
      return;
    }
    const isTolerated = pod.node?.taints.every(
      ({ key, effect }) => effect !== 'NoExecute' || key === unreachableKey,
    );
    if (isTolerated !== true) this.#evict(pod);
    else if (!this.#plans.has(pod)) this.#plan(pod, world.of(pod.workload).tolerationUs);
  }

  #plan(pod: PodObject, delayUs: number): void {
    const plan: EvictionPlan = {};
    this.#plans.set(pod, plan);
    this.#context.process.after(delayUs, () => {
      if (this.#plans.get(pod) === plan) this.#evict(pod);
    });
  }

  /** A plain DELETE, which no disruption budget stops. */
  #evict(pod: PodObject): void {
    const { world } = this.#context;
    const { api } = world;
    this.#plans.delete(pod);
    if (api.pods.has(pod)) api.deletePod(pod, world.of(pod.workload).terminationGraceUs / secondUs);
  }
}
