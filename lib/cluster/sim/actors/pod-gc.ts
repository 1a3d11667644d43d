/**
 * The pod garbage collector: each 20 s it removes Terminating pods of nodes that are not Ready and
 * carry the out-of-service taint, and pods of nodes that were missing for 40 s
 * (podgc/gc_controller.go gcTerminating, gcOrphaned).
 */
import { outOfServiceKey } from '../../../taints.ts';
import { hasTaint, type NodeObject, type PodObject } from '../api-objects.ts';
import type { ApiWatcher } from '../api-watchers.ts';
import { kubernetesTimes, measuredTimes } from '../timings.ts';
import { onGrid } from '../world.ts';
import { gridPhaseUs, type LeaderContext } from './controller.ts';

export class PodGc implements ApiWatcher {
  readonly #context: LeaderContext;
  readonly #phaseUs: number;
  #tickDue = false;
  /** Missing nodes, and since when they are known to be. */
  readonly #quarantine = new Map<NodeObject, number>();

  constructor(context: LeaderContext) {
    this.#context = context;
    this.#phaseUs = gridPhaseUs(context, kubernetesTimes.podGcUs);
    const { api, kernel } = context.world;
    // A new leader's first look is at once, and its quarantine counts from there.
    if ([...api.nodes].some((node) => this.#hasCandidate(node))) this.#planTick(kernel.nowUs);
  }

  node(node: NodeObject): void {
    if (this.#hasCandidate(node)) this.#planTick();
  }

  pod(pod: PodObject): void {
    if (this.#isCandidate(pod)) this.#planTick();
  }

  #hasCandidate({ pods }: NodeObject): boolean {
    return [...pods].some((pod) => this.#isCandidate(pod));
  }

  #isCandidate(pod: PodObject): boolean {
    return this.#isOrphan(pod) || this.#isOutOfService(pod);
  }

  #isOrphan({ node }: PodObject): boolean {
    return node?.exists === false;
  }

  #isOutOfService({ node, terminating }: PodObject): boolean {
    return (
      terminating && node !== undefined && node.ready !== 'True' && hasTaint(node, outOfServiceKey)
    );
  }

  /** Ticks that would find nothing are left out. */
  #planTick(fromUs = this.#context.world.kernel.nowUs + 1): void {
    if (this.#tickDue) return;
    this.#tickDue = true;
    const { world, process } = this.#context;
    const { nowUs } = world.kernel;
    const dueUs = onGrid(fromUs, this.#phaseUs, kubernetesTimes.podGcUs);
    process.after(dueUs - nowUs, () => {
      this.#tickDue = false;
      this.#tick();
    });
  }

  #tick(): void {
    const { api } = this.#context.world;
    for (const node of api.nodes) {
      if (node.exists || node.pods.size === 0) this.#quarantine.delete(node);
      else this.#collectOrphans(node);
    }
    for (const pod of api.pods) if (this.#isOutOfService(pod)) this.#remove(pod);
  }

  #collectOrphans(node: NodeObject): void {
    const { nowUs } = this.#context.world.kernel;
    const sinceUs = this.#quarantine.get(node) ?? nowUs;
    this.#quarantine.set(node, sinceUs);
    if (nowUs - sinceUs < kubernetesTimes.quarantineUs) this.#planTick();
    else for (const pod of node.pods) this.#remove(pod);
  }

  /** Failed first, then gone: DELETE with grace period 0. */
  #remove(pod: PodObject): void {
    const { world, process, chance } = this.#context;
    world.api.failPod(pod);
    process.after(chance.within(measuredTimes.apiCall), () => world.api.deletePod(pod, 0));
  }
}
