/**
 * What makes pods anew, one a workload. A StatefulSet waits until the old object is gone: its names
 * are unique (stateful_set_control.go processReplica). A ReplicaSet does not count a Terminating pod,
 * and so replaces it at once.
 */
import type { PodObject } from '../api-objects.ts';
import type { ApiWatcher } from '../api-watchers.ts';
import { coalesced } from '../coalesced.ts';
import { measuredTimes } from '../timings.ts';
import type { ControllerContext } from './controller.ts';

export class Workloads implements ApiWatcher {
  readonly #context: ControllerContext;
  readonly #nudges: (() => void)[];

  constructor(context: ControllerContext, workloads: number) {
    this.#context = context;
    const { process, chance } = context;
    this.#nudges = Array.from({ length: workloads }, (_, workload) =>
      coalesced(process, chance, measuredTimes.controllerStep, () => this.#reconcile(workload)),
    );
    for (const nudge of this.#nudges) nudge();
  }

  pod({ workload }: PodObject): void {
    if (!this.#isServed(workload)) this.#nudges[workload]?.();
  }

  #isDeployment(workload: number): boolean {
    return this.#context.world.of(workload).workload.startsWith('deployment');
  }

  /** There is a pod that counts. */
  #isServed(workload: number): boolean {
    const pods = this.#context.world.api.podsOf(workload);
    if (!this.#isDeployment(workload)) return pods.size > 0;
    for (const { terminating, phase } of pods) if (!terminating && phase !== 'Failed') return true;
    return false;
  }

  #reconcile(workload: number): void {
    if (this.#isServed(workload)) return;
    const { world } = this.#context;
    const uniqueName = !this.#isDeployment(workload);
    const finalizer = world.of(workload).podFinalizer;
    world.api.createPod(workload, { uniqueName, finalizer });
  }
}
