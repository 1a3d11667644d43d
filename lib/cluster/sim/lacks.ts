/** What the model can't play: it says so by name, before anything is created. */
import { UsageError } from '../../errors.ts';
import type { Scenario } from '../../experiment/scenario.ts';
import type { FaultKind } from '../../fault-kinds.ts';
import type { RemedyKind } from '../../remedy-kinds.ts';
import type { ControlPlane, Kubernetes, Machine } from '../port.ts';

/** Its control plane never fails, its nodes have no CPU that could run out. */
const lacking: readonly FaultKind[] = [
  'controller-restart',
  'api-outage',
  'attacher-down',
  'kubelet-restart',
  'cpu-starvation',
];

/** Its API has no Node that could go, no finalizers, and attachments that only its controllers touch. */
const lackingRemedies: readonly RemedyKind[] = [
  'delete-node',
  'delete-attachment',
  'strip-attachment-finalizer',
  'strip-pod-finalizer',
];

const lacks = (what: string): UsageError =>
  new UsageError('MODEL_LACKS', `the built-in model has no ${what}`, {
    hint: 'measure it on a real cluster: --cluster kind',
  });

/** Throws UsageError `MODEL_LACKS`. */
export function refuseUnmodelled(scenario: Scenario): void {
  const { fault, also, workload, remedy, podFinalizer, selfFence } = scenario;
  const { moveBack, recreations, preStopS } = scenario;
  for (const what of [fault, also]) {
    if (what !== 'none' && lacking.includes(what)) throw lacks(what);
  }
  if (lackingRemedies.includes(remedy)) throw lacks(`remedy ${remedy}`);
  if (podFinalizer) throw lacks('finalizers of pods');
  // With one replica a StatefulSet does the same under either policy.
  if (workload.startsWith('deployment')) throw lacks('Deployment: its API has one pod at a time');
  if (selfFence !== 'off') throw lacks('sidecar that could end the database');
  if (moveBack) throw lacks('kubelet that keeps a mount for the next pod');
  if (recreations > 0) throw lacks('second pod on a node that still stops the first');
  if (preStopS > 0) throw lacks('preStop hooks');
}

/** Every use of it is refused. */
export const noControlPlane: ControlPlane = {
  kill: (component) => Promise.reject(lacks(`${component} that could be killed`)),
  stall: (component) => Promise.reject(lacks(`${component} that could stand still`)),
  resume: () => Promise.resolve(),
  look: (component) => Promise.reject(lacks(`process of the ${component}`)),
};

/** What its API can't do. */
export const unmodelledApi: Pick<
  Kubernetes,
  'deleteNode' | 'deleteAttachments' | 'stripPodFinalizers'
> = {
  deleteNode: () => Promise.reject(lacks('Node that could be deleted')),
  deleteAttachments: () => Promise.reject(lacks('VolumeAttachment that a person could delete')),
  stripPodFinalizers: () => Promise.reject(lacks('finalizers of pods')),
};

/** What its machines can't do either. */
export const unmodelledMachine: Pick<
  Machine,
  'restartKubelet' | 'throttle' | 'unthrottle' | 'throttled'
> = {
  restartKubelet: () => Promise.reject(lacks('kubelet that reads its mounts anew')),
  throttle: () => Promise.reject(lacks('CPU that could run out')),
  unthrottle: () => Promise.resolve(),
  throttled: () => Promise.resolve(0),
};
