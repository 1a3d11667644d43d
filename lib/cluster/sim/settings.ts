/** What a scenario sets, in the model's own unit of time. */
import { stockTimersMs, type Scenario } from '../../experiment/scenario.ts';
import type { Timers } from '../../history/events.ts';
import { kubernetesTimes, msUs, secondUs } from './timings.ts';
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
  readonly leaseRenewUs: number;
  readonly tolerationUs: number;
  readonly forceDetachAfterUs: number;
  readonly cutAfterUs: number;
  readonly terminationGraceUs: number;
  readonly preStopUs: number;
  readonly selfFenceAfterUs: number;
}

/** The stock grace period of the scenario's version, where the scenario leaves it stock. */
const graceMsOf = (scenario: Scenario): number =>
  scenario.graceMs === stockTimersMs.graceMs ? traitsOf(scenario).graceMs : scenario.graceMs;

export const settingsOf = (scenario: Scenario): Settings => ({
  ...scenario,
  traits: traitsOf(scenario),
  attachable: scenario.disk !== 'shared-file',
  forMany: scenario.accessMode === 'ReadWriteMany',
  graceUs: graceMsOf(scenario) * msUs,
  leaseRenewUs: kubernetesTimes.leaseRenewUs,
  tolerationUs: scenario.tolerationMs * msUs,
  forceDetachAfterUs: scenario.forceDetachAfterMs * msUs,
  cutAfterUs: scenario.cutAfterMs * msUs,
  terminationGraceUs: scenario.terminationGraceS * secondUs,
  preStopUs: scenario.preStopS * secondUs,
  selfFenceAfterUs: scenario.selfFenceAfterMs * msUs,
});

export const timersOf = (scenario: Scenario): Timers => ({
  nodeMonitorGraceMs: graceMsOf(scenario),
  nodeMonitorPeriodMs: kubernetesTimes.nodeMonitorUs / msUs,
  kubeletLeaseMs: kubernetesTimes.leaseUs / msUs,
  kubeletStatusMs: kubernetesTimes.statusUpdateUs / msUs,
  tolerationMs: scenario.tolerationMs,
  forceDetachAfterMs: scenario.forceDetachAfterMs,
  terminationGraceMs: scenario.terminationGraceS * 1000,
});
