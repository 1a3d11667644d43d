/**
 * The pod garbage collector: each 20 s it removes Terminating pods of nodes that are not Ready and
 * carry the out-of-service taint, and pods of nodes that were missing for 40 s
 * (podgc/gc_controller.go gcTerminating, gcOrphaned).
 */
import { outOfServiceKey } from '../../core/index.ts';
import { hasTaint, type ApiWatcher, type NodeObject, type PodObject } from '../api-objects.ts';
import { kubernetesTimes, measuredTimes } from '../timings.ts';
import { onGrid } from '../world.ts';
import { Controller, type ControllerContext } from './controller.ts';

export class PodGc extends Controller implements ApiWatcher {
  readonly #phaseUs = this.gridPhaseUs(kubernetesTimes.podGcUs);
  #tickDue = false;
  /** Missing nodes, and since when they are known to be. */
  readonly #quarantine = new Map<NodeObject, number>();

  constructor(context: ControllerContext) {
    super(context);
    // A new leader's first look is at once, and its quarantine counts from there.
    if (this.api.nodes.some(hasCandidate)) this.#planTick(this.nowUs);
  }

  node(node: NodeObject): void {
    if (hasCandidate(node)) this.#planTick();
  }

  pod(pod: PodObject): void {
    if (isCandidate(pod)) this.#planTick();
  }

  /** Ticks that would find nothing are left out. */
  #planTick(fromUs = this.nowUs + 1): void {
    if (this.#tickDue) return;
    this.#tickDue = true;
    this.at(onGrid(fromUs, this.#phaseUs, kubernetesTimes.podGcUs), () => {
      this.#tickDue = false;
      this.#tick();
    });
  }

  #tick(): void {
    for (const node of this.api.nodes) {
      if (node.exists || node.pods.size === 0) this.#quarantine.delete(node);
      else this.#collectOrphans(node);
    }
    for (const pod of this.api.pods) if (isOutOfService(pod)) this.#remove(pod);
  }

  #collectOrphans(node: NodeObject): void {
    const sinceUs = this.#quarantine.get(node) ?? this.nowUs;
    this.#quarantine.set(node, sinceUs);
    if (this.nowUs - sinceUs < kubernetesTimes.quarantineUs) this.#planTick();
    else for (const pod of node.pods) this.#remove(pod);
  }

  /** Failed first, then gone: DELETE with grace period 0. */
  #remove(pod: PodObject): void {
    this.api.failPod(pod);
    this.after(measuredTimes.apiCall, () => this.api.deletePod(pod, 0));
  }
}

const isOutOfService = ({ node, terminating }: PodObject): boolean =>
  terminating && node !== undefined && node.ready !== 'True' && hasTaint(node, outOfServiceKey);

const isCandidate = (pod: PodObject): boolean => pod.node?.exists === false || isOutOfService(pod);

const hasCandidate = ({ pods }: NodeObject): boolean => [...pods].some(isCandidate);
