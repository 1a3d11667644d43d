/** What a scenario sets, in the model's own unit of time. */
import { stockTimersMs, type Scenario } from '../../experiment/scenario.ts';
import type { Timers } from '../../history/events.ts';
import { clusterTimers, type ClusterTimers } from '../timers.ts';
import { msUs, secondUs } from './timings.ts';
import { traitsOf, type Traits } from './versions.ts';

export interface Settings
  extends Pick<
    Scenario,
    | 'disk'
    | 'forceDetach'
    | 'watcherCheck'
    | 'attachWhileBusy'
    | 'fileLocks'
    | 'filesystem'
    | 'accessMode'
    | 'powerLoss'
    | 'trxCommit'
    | 'flushes'
    | 'workload'
    | 'podFinalizer'
    | 'selfFence'
  > {
  readonly traits: Traits;
  /** Each volume is attached to a node before it is mounted; a shared directory is not. */
  readonly attachable: boolean;
  /** Declared for many nodes (util.IsMultiAttachAllowed). */
  readonly forMany: boolean;
  readonly graceUs: number;
  readonly nodeMonitorUs: number;
  /** A quarter of the lease (kubelet.go nodeLeaseRenewIntervalFraction). */
  readonly leaseRenewUs: number;
  /** nodeStatusUpdateFrequency. */
  readonly statusUpdateUs: number;
  readonly tolerationUs: number;
  readonly forceDetachAfterUs: number;
  readonly cutAfterUs: number;
  readonly terminationGraceUs: number;
  readonly preStopUs: number;
  readonly selfFenceAfterUs: number;
}

/** A stock grace period is that of the scenario's version, and shortens nothing else. */
function clusterTimersOf(scenario: Scenario): ClusterTimers {
  const timers = clusterTimers(scenario);
  if (scenario.graceMs !== stockTimersMs.graceMs) return timers;
  return { ...timers, nodeMonitorGraceMs: traitsOf(scenario).graceMs };
}

export function settingsOf(scenario: Scenario): Settings {
  const timers = clusterTimersOf(scenario);
  return {
    ...scenario,
    traits: traitsOf(scenario),
    attachable: scenario.disk !== 'shared-file',
    forMany: scenario.accessMode === 'ReadWriteMany',
    graceUs: timers.nodeMonitorGraceMs * msUs,
    nodeMonitorUs: timers.nodeMonitorPeriodMs * msUs,
    leaseRenewUs: (timers.kubeletLeaseMs / 4) * msUs,
    statusUpdateUs: timers.kubeletStatusMs * msUs,
    tolerationUs: scenario.tolerationMs * msUs,
    forceDetachAfterUs: scenario.forceDetachAfterMs * msUs,
    cutAfterUs: scenario.cutAfterMs * msUs,
    terminationGraceUs: scenario.terminationGraceS * secondUs,
    preStopUs: scenario.preStopS * secondUs,
    selfFenceAfterUs: scenario.selfFenceAfterMs * msUs,
  };
}

export const timersOf = (scenario: Scenario): Timers => ({
  ...clusterTimersOf(scenario),
  tolerationMs: scenario.tolerationMs,
  terminationGraceMs: scenario.terminationGraceS * 1000,
});
