/**
 * What makes pods anew, one a workload. A StatefulSet waits until the old object is gone: its names
 * are unique (stateful_set_control.go processReplica). A ReplicaSet does not count a Terminating pod,
 * and so replaces it at once.
 */
import type { ApiWatcher, PodObject } from '../api-objects.ts';
import { coalesced } from '../process.ts';
import { measuredTimes } from '../timings.ts';
import { Controller, type ControllerContext } from './controller.ts';

export class Workloads extends Controller implements ApiWatcher {
  readonly #nudges: (() => void)[];

  constructor(context: ControllerContext, workloads: number) {
    super(context);
    const after = this.process.after.bind(this.process);
    this.#nudges = Array.from({ length: workloads }, (_, workload) =>
      coalesced(after, this.chance, measuredTimes.controllerStep, () => this.#reconcile(workload)),
    );
    for (const nudge of this.#nudges) nudge();
  }

  pod({ workload }: PodObject): void {
    if (!this.#isServed(workload)) this.#nudges[workload]?.();
  }

  #isDeployment(workload: number): boolean {
    return this.world.of(workload).workload.startsWith('deployment');
  }

  /** There is a pod that counts. */
  #isServed(workload: number): boolean {
    const pods = this.api.podsOf(workload);
    if (!this.#isDeployment(workload)) return pods.size > 0;
    for (const { terminating, phase } of pods) if (!terminating && phase !== 'Failed') return true;
    return false;
  }

  #reconcile(workload: number): void {
    if (this.#isServed(workload)) return;
    const finalizer = this.world.of(workload).podFinalizer;
    this.api.createPod(workload, { uniqueName: !this.#isDeployment(workload), finalizer });
  }
}
