/** The scheduler: binds pods to nodes that are Ready and not tainted, at random. */
import type { NodeObject, PodObject } from '../api-objects.ts';
import type { ApiWatcher } from '../api-watchers.ts';
import { coalesced } from '../coalesced.ts';
import { measuredTimes } from '../timings.ts';
import type { ControllerContext } from './controller.ts';

const isFit = ({ exists, ready, taints }: NodeObject): boolean =>
  exists && ready === 'True' && taints.length === 0;

export class Scheduler implements ApiWatcher {
  readonly #context: ControllerContext;
  readonly #pending = new Set<PodObject>();
  readonly #nudge: () => void;

  constructor(context: ControllerContext) {
    this.#context = context;
    const { process, chance } = context;
    this.#nudge = coalesced(process, chance, measuredTimes.controllerStep, () => this.#schedule());
  }

  pod(pod: PodObject): void {
    const isPending = pod.node === undefined && !pod.terminating;
    if (isPending) this.#pending.add(pod);
    else this.#pending.delete(pod);
    if (this.#pending.size > 0) this.#nudge();
  }

  node(): void {
    if (this.#pending.size > 0) this.#nudge();
  }

  #schedule(): void {
    const { world, chance } = this.#context;
    const { api } = world;
    const fit = api.nodes.filter(isFit);
    for (const pod of this.#pending) {
      const chosen = fit[chance.int(0, Math.max(0, fit.length - 1))];
      if (chosen === undefined || !api.pods.has(pod) || this.#mustWait(pod)) continue;
      this.#pending.delete(pod);
      api.bindPod(pod, chosen);
    }
  }

  /** ReadWriteOncePod: not while another pod has the claim (VolumeRestrictions). */
  #mustWait(pod: PodObject): boolean {
    const { api } = this.#context.world;
    if (this.#context.world.of(pod.workload).accessMode !== 'ReadWriteOncePod') return false;
    for (const other of api.podsOf(pod.workload))
      if (other !== pod && other.node !== undefined) return true;
    return false;
  }
}
