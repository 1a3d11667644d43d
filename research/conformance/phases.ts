/** The durations that are compared: from one milestone to the next one that it leads to. */
import { kubernetesTimes, secondUs } from '../../lib/core/index.ts';
import { mysql } from '../../lib/mysql/index.ts';
import type { MilestoneTimes, TimedName } from './milestone-times.ts';

export interface PhaseDefinition {
  /** Several: the last of them. */
  readonly from: TimedName | readonly TimedName[];
  readonly to: TimedName;
  /** Which time of Kubernetes, or of the machine, it is. */
  readonly is: string;
  /** Work of the machine and no timer: on a busy one it may take up to so long, s. */
  readonly busyToS?: number;
}

/** The most that the committed runs have of a call, a mount and an unmount, and of a start. */
const [call, mount, start] = [{ busyToS: 4 }, { busyToS: 10 }, { busyToS: 75 }];

const podGcS = kubernetesTimes.podGcUs / secondUs;

export const phaseDefinitions: readonly PhaseDefinition[] = [
  { from: 'struck', to: 'not-ready', is: 'lease, node monitor and its grace' },
  { from: 'not-ready', to: 'no-execute', is: 'the NoExecute pass' },
  { from: 'no-execute', to: 'evicted', is: 'tolerationSeconds' },
  { ...call, from: 'not-ready', to: 'victim-unready', is: 'the node monitor marks pods' },
  { ...call, from: 'removal', to: 'pod-gone', is: `the API, or podGC’s ${podGcS} s` },
  { ...call, from: 'pod-gone', to: 'created', is: 'the workload controller' },
  { ...call, from: 'created', to: 'bound', is: 'the scheduler' },
  { from: 'bound', to: 'in-use', is: 'the kubelet’s node status' },
  { from: 'pod-gone', to: 'unlisted', is: 'the wait for a forced detach' },
  { ...call, from: 'unlisted', to: 'detach-asked', is: 'one API call' },
  { ...call, from: 'detach-asked', to: 'detach-answered', is: 'attacher and disk' },
  { ...call, from: 'detach-answered', to: 'detached', is: 'the attacher’s finalizer' },
  { ...call, from: 'detached', to: 'attach-asked', is: 'the controller’s poll' },
  { ...call, from: 'attach-asked', to: 'attach-answered', is: 'attacher and disk' },
  { ...call, from: 'attach-answered', to: 'attached', is: 'the attacher' },
  { ...call, from: 'attached', to: 'listed', is: 'the controller’s poll' },
  { ...mount, from: ['listed', 'in-use'], to: 'stage-begun', is: 'the kubelet’s reconciler' },
  { ...mount, from: 'stage-begun', to: 'staged', is: 'fsck and mount' },
  { ...start, from: 'staged', to: 'running', is: 'the container runtime' },
  { ...start, from: 'running', to: 'serving', is: `${mysql.server} starts and recovers` },
  { ...call, from: 'serving', to: 'ready', is: 'the readiness probe' },
  { from: 'heal', to: 'ready-again', is: 'connection, or boot' },
  { ...call, from: 'ready-again', to: 'untainted', is: 'the node monitor' },
  {
    from: 'heal',
    to: 'unpublished',
    is: `the kubelet hears of the pod, ${mysql.server}’s shutdown`,
  },
  { ...mount, from: 'unpublished', to: 'unstaged', is: 'unmount' },
  { from: 'unstaged', to: 'not-in-use', is: 'the kubelet’s node status' },
];

export const phaseKey = ({ from, to }: Pick<PhaseDefinition, 'from' | 'to'>): string =>
  `${[from].flat().join('+')} → ${to}`;

/** Seconds; undefined where a milestone is missing. */
export function durationS(
  times: MilestoneTimes,
  { from, to }: PhaseDefinition,
): number | undefined {
  const begun = [from].flat().map((name) => times.get(name) ?? Number.NaN);
  const seconds = ((times.get(to) ?? Number.NaN) - Math.max(...begun)) / 1000;
  return Number.isNaN(seconds) ? undefined : seconds;
}
