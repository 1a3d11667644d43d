/** What lib/faults/server-kills.ts does through the port, on the model without promises. */
import type { PodObject } from '../cluster/sim/api-objects.ts';
import type { Model } from '../cluster/sim/model.ts';
import { secondUs } from '../cluster/sim/timings.ts';
import { InfrastructureError } from '../errors.ts';

/** The model's database is Ready again long before. */
const withinUs = 180 * secondUs;

/** Kills the pod's server so often; after the last time its container is reported as waiting. */
export function killServers(model: Model, pod: PodObject, kills: number): void {
  const { kernel } = model;
  const until = (isSo: () => boolean): void => {
    const deadlineUs = kernel.nowUs + withinUs;
    while (!isSo() && kernel.nowUs < deadlineUs && kernel.step());
    if (isSo()) return;
    throw new InfrastructureError('MODEL_NOT_READY', 'the model never started its database again', {
      hint: 'this is a fault in the model; please report it with the seed of the schedule',
    });
  };
  for (let left = kills; left > 0; left--) {
    until(() => pod.ready);
    model
      .kubelet(pod.node?.name ?? '')
      .container()
      ?.killServer();
    until(() => !pod.ready);
  }
  until(() => kills === 0 || !pod.containersRun);
}
