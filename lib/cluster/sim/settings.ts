/** What a scenario sets, in the model's own unit of time. */
import { isDirectory } from '../../disk-modes/index.ts';
import { stockTimersMs, type Scenario } from '../../experiment/scenario.ts';
import type { Timers } from '../../history/events.ts';
import { clusterTimers, type ClusterTimers } from '../timers.ts';
import { msUs, secondUs } from './timings.ts';
import { traitsOf } from './versions.ts';

type Played = Pick<
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
>;

export interface ModelSettings extends Played, Readonly<ReturnType<typeof derived>> {}

/** What each volume, its database or its pod has of its own; the rest is one for the cluster. */
export type VolumeSettings = Omit<ModelSettings, ClusterSetting>;
type ClusterSetting =
  | 'forceDetach'
  | 'forceDetachAfterUs'
  | 'graceUs'
  | 'leaseRenewUs'
  | 'nodeMonitorUs'
  | 'statusUpdateUs'
  | 'traits';
export type ClusterSettings = Pick<ModelSettings, ClusterSetting>;

/** A stock grace period is that of the scenario's version, and shortens nothing else. */
function clusterTimersOf(scenario: Scenario): ClusterTimers {
  const timers = clusterTimers(scenario);
  if (scenario.graceMs !== stockTimersMs.graceMs) return timers;
  return { ...timers, nodeMonitorGraceMs: traitsOf(scenario).graceMs };
}

export const modelSettingsOf = (scenario: Scenario): ModelSettings => ({
  ...scenario,
  ...derived(scenario),
});

function derived(scenario: Scenario) {
  const timers = clusterTimersOf(scenario);
  return {
    traits: traitsOf(scenario),
    /** Each volume is attached to a node before it is mounted; a shared directory is not. */
    attachable: !isDirectory(scenario.disk),
    /** Declared for many nodes (util.IsMultiAttachAllowed). */
    forMany: scenario.accessMode === 'ReadWriteMany',
    graceUs: timers.nodeMonitorGraceMs * msUs,
    nodeMonitorUs: timers.nodeMonitorPeriodMs * msUs,
    /** A quarter of the lease (kubelet.go nodeLeaseRenewIntervalFraction). */
    leaseRenewUs: (timers.kubeletLeaseMs / 4) * msUs,
    /** nodeStatusUpdateFrequency. */
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
