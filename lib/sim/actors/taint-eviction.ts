/**
 * The taint eviction controller: deletes the pods of a node with a NoExecute taint once their
 * toleration is over; counted from when it sees the taint, forgotten when the taint goes, and counted
 * anew by a new leader (pkg/controller/tainteviction).
 */
import {
  unreachableKey,
  type ApiWatcher,
  type NodeObject,
  type PodObject,
} from '../api-objects.ts';
import { measuredTimes, secondUs } from '../timings.ts';
import { Controller, type ControllerContext } from './controller.ts';

/** Pods tolerate the unreachable taint for `tolerationSeconds`, others not at all. */
export class TaintEviction extends Controller implements ApiWatcher {
  /** Evictions that are planned; one that is no longer here never comes. */
  readonly #plans = new Map<PodObject, object>();

  constructor(context: ControllerContext) {
    super(context);
    for (const node of this.api.nodes) this.node(node);
  }

  node(node: NodeObject): void {
    for (const pod of node.pods) this.pod(pod);
  }

  pod(pod: PodObject): void {
    if (!this.#plans.has(pod) && !isPushed(pod)) return;
    this.after(measuredTimes.watchDelay, () => this.#consider(pod));
  }

  #consider(pod: PodObject): void {
    if (!this.api.pods.has(pod) || pod.terminating || !isPushed(pod)) {
      this.#plans.delete(pod);
      return;
    }
    const isTolerated = pod.node?.taints.every(
      ({ key, effect }) => effect !== 'NoExecute' || key === unreachableKey,
    );
    if (isTolerated !== true) this.#evict(pod);
    else if (!this.#plans.has(pod)) this.#plan(pod);
  }

  #plan(pod: PodObject): void {
    const plan = {};
    this.#plans.set(pod, plan);
    this.process.after(this.world.of(pod.workload).tolerationUs, () => {
      if (this.#plans.get(pod) === plan) this.#evict(pod);
    });
  }

  /** A plain DELETE, which no disruption budget stops. */
  #evict(pod: PodObject): void {
    this.#plans.delete(pod);
    const { terminationGraceUs } = this.world.of(pod.workload);
    if (this.api.pods.has(pod)) this.api.deletePod(pod, terminationGraceUs / secondUs);
  }
}

const isPushed = ({ node }: PodObject): boolean =>
  node?.exists === true && node.taints.some(({ effect }) => effect === 'NoExecute');
