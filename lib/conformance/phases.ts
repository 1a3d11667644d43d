/** The durations that are compared: from one step to the next one that it leads to. */
import type { StepName, Steps } from './steps.ts';

export interface PhaseDefinition {
  /** Several: the last of them. */
  readonly from: StepName | readonly StepName[];
  readonly to: StepName;
  /** Which time of Kubernetes, or of the machine, it is. */
  readonly is: string;
}

export const phaseDefinitions: readonly PhaseDefinition[] = [
  { from: 'struck', to: 'not-ready', is: 'lease, node monitor and its grace' },
  { from: 'not-ready', to: 'no-execute', is: 'the NoExecute pass' },
  { from: 'no-execute', to: 'evicted', is: 'tolerationSeconds' },
  { from: 'not-ready', to: 'victim-unready', is: 'the node monitor marks pods' },
  { from: 'removal', to: 'pod-gone', is: 'the API, or podGC’s 20 s' },
  { from: 'pod-gone', to: 'created', is: 'the workload controller' },
  { from: 'created', to: 'bound', is: 'the scheduler' },
  { from: 'bound', to: 'in-use', is: 'the kubelet’s node status' },
  { from: 'pod-gone', to: 'unlisted', is: 'the wait for a forced detach' },
  { from: 'unlisted', to: 'detach-asked', is: 'one API call' },
  { from: 'detach-asked', to: 'detach-answered', is: 'attacher and disk' },
  { from: 'detach-answered', to: 'detached', is: 'the attacher’s finalizer' },
  { from: 'detached', to: 'attach-asked', is: 'the controller’s poll' },
  { from: 'attach-asked', to: 'attach-answered', is: 'attacher and disk' },
  { from: 'attach-answered', to: 'attached', is: 'the attacher' },
  { from: 'attached', to: 'listed', is: 'the controller’s poll' },
  { from: ['listed', 'in-use'], to: 'stage-begun', is: 'the kubelet’s reconciler' },
  { from: 'stage-begun', to: 'staged', is: 'fsck and mount' },
  { from: 'staged', to: 'running', is: 'the container runtime' },
  { from: 'running', to: 'serving', is: 'mysqld starts and recovers' },
  { from: 'serving', to: 'ready', is: 'the readiness probe' },
  { from: 'heal', to: 'ready-again', is: 'connection, or boot' },
  { from: 'ready-again', to: 'untainted', is: 'the node monitor' },
  { from: 'heal', to: 'unpublished', is: 'the kubelet hears of the pod, mysqld’s shutdown' },
  { from: 'unpublished', to: 'unstaged', is: 'unmount' },
  { from: 'unstaged', to: 'not-in-use', is: 'the kubelet’s node status' },
];

export const phaseKey = ({ from, to }: Pick<PhaseDefinition, 'from' | 'to'>): string =>
  `${[from].flat().join('+')} → ${to}`;

/** Seconds; undefined where a step is missing. */
export function durationS(steps: Steps, { from, to }: PhaseDefinition): number | undefined {
  const begun = [from].flat().map((name) => steps.get(name) ?? Number.NaN);
  const seconds = ((steps.get(to) ?? Number.NaN) - Math.max(...begun)) / 1000;
  return Number.isNaN(seconds) ? undefined : seconds;
}
