/** The scheduler: binds pods to nodes that are Ready and not tainted, at random. */
import type { ApiWatcher, NodeObject, PodObject } from '../api-objects.ts';
import { coalesced } from '../process.ts';
import { measuredTimes } from '../timings.ts';
import { Controller } from './controller.ts';

const isFit = ({ exists, ready, taints }: NodeObject): boolean =>
  exists && ready === 'True' && taints.length === 0;

export class Scheduler extends Controller implements ApiWatcher {
  readonly #pending = new Set<PodObject>();
  readonly #nudge = coalesced(
    this.process.after.bind(this.process),
    this.chance,
    measuredTimes.controllerStep,
    () => this.#schedule(),
  );

  pod(pod: PodObject): void {
    const isPending = pod.node === undefined && !pod.terminating;
    if (isPending) this.#pending.add(pod);
    else this.#pending.delete(pod);
    this.node();
  }

  node(): void {
    if (this.#pending.size > 0) this.#nudge();
  }

  #schedule(): void {
    const fit = this.api.nodes.filter(isFit);
    for (const pod of this.#pending) {
      const chosen = fit[this.chance.int(0, Math.max(0, fit.length - 1))];
      if (chosen === undefined || !this.api.pods.has(pod) || this.#mustWait(pod)) continue;
      this.#pending.delete(pod);
      this.api.bindPod(pod, chosen);
    }
  }

  /** ReadWriteOncePod: not while another pod has the claim (VolumeRestrictions). */
  #mustWait(pod: PodObject): boolean {
    if (this.world.of(pod.workload).accessMode !== 'ReadWriteOncePod') return false;
    const others = [...this.api.podsOf(pod.workload)].filter((other) => other !== pod);
    return others.some(({ node }) => node !== undefined);
  }
}
