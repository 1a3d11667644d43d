/** What all actors of the model share: settings, time, chance, the API's objects, and who listens. */
import { asksLeaseAgain, restartGate } from '../core/index.ts';
import type { Timers, attachGateTexts } from '../history/index.ts';
import { clusterTimers, type ClusterTimers, type Database } from '../run/index.ts';
import { criticalGraceMs, isDirectory, stockTimers, type Scenario } from '../scenario/index.ts';
import { Api } from './api.ts';
import { type Chance, type Kernel, Process } from './kernel.ts';
import type { NodeObject, Notify, Lookout } from './sightings.ts';
import { msUs, type DurationRange } from './timings.ts';

/** What differs between the Kubernetes versions that the model plays, and by their gates. */
interface Traits {
  /**
   * A detach that failed leaves the volume uncertain, so that another node may attach it (#120595;
   * 1.28 got it with 1.28.4, #121079: without a patch 1.28 is an older one).
   */
  readonly uncertainAfterError: boolean;
  /**
   * How the event of a refused attach begins (attachdetach/reconciler/reconciler.go
   * reportMultiAttachError).
   */
  readonly attachGateText: (typeof attachGateTexts)[number];
  /**
   * A kubelet that starts anew knows no probe's result, and says that what has a readiness probe is not
   * ready until the first one (prober/prober_manager.go UpdatePodStatus). Since 1.35 what was Ready, and
   * ran 10 s before, stays so (setReadyStateOnKubeletRestart; gate
   * ChangeContainerStatusOnKubeletRestart, off, brings the old way back).
   */
  readonly readyLostOnKubeletRestart: boolean;
  readonly asksLeaseAgain: boolean;
}

function releaseOf(kubernetes: string): { readonly minor: number; readonly patch: number } {
  const [, minor = 0, patch = 0] = kubernetes.split('.').map(Number);
  return { minor, patch };
}

function traitsOf(scenario: Pick<Scenario, 'kubernetes'>): Traits {
  const { minor, patch } = releaseOf(scenario.kubernetes.version);
  return {
    uncertainAfterError: minor > 28 || patch >= 4,
    attachGateText: minor < 37 ? 'Multi-Attach error' : 'Waiting for detach',
    readyLostOnKubeletRestart: minor < 35 || scenario.kubernetes.featureGates[restartGate] === true,
    asksLeaseAgain: asksLeaseAgain(scenario.kubernetes),
  };
}

/**
 * A stock grace period is that of the scenario's version, and shortens nothing else: 40 s before 1.32
 * (nodelifecycle/config/v1alpha1/defaults.go, #126287).
 */
function clusterTimersOf(scenario: Scenario): ClusterTimers {
  const timers = clusterTimers(scenario.timers);
  if (scenario.timers.grace !== stockTimers.grace) return timers;
  const { minor } = releaseOf(scenario.kubernetes.version);
  return { ...timers, nodeMonitorGraceMs: minor < 32 ? 40_000 : 50_000 };
}

interface ClusterSettings extends Pick<Scenario['timers'], 'forceDetach'> {
  readonly traits: Traits;
  readonly graceUs: number;
  readonly nodeMonitorUs: number;
  /** A quarter of the lease (kubelet.go nodeLeaseRenewIntervalFraction). */
  readonly leaseRenewUs: number;
  /** nodeStatusUpdateFrequency. */
  readonly statusUpdateUs: number;
  readonly forceDetachAfterUs: number;
  /** Of a kubelet whose node shuts down: for pods that are not critical; 0: it ends none. */
  readonly podsEndWithinUs: number;
  readonly driverEnds: Scenario['fault']['driverEnds'];
}

export function clusterSettingsOf(scenario: Scenario): ClusterSettings {
  const { shutdownGrace, driverEnds } = scenario.fault;
  const timers = clusterTimersOf(scenario);
  return {
    traits: traitsOf(scenario),
    graceUs: timers.nodeMonitorGraceMs * msUs,
    nodeMonitorUs: timers.nodeMonitorPeriodMs * msUs,
    leaseRenewUs: (timers.kubeletLeaseMs / 4) * msUs,
    statusUpdateUs: timers.kubeletStatusMs * msUs,
    forceDetach: scenario.timers.forceDetach,
    forceDetachAfterUs: scenario.timers.forceDetachAfter * msUs,
    podsEndWithinUs: (shutdownGrace - criticalGraceMs(shutdownGrace)) * msUs,
    driverEnds,
  };
}

const volumeSettingsOf = (scenario: Scenario) => ({
  ...scenario,
  /** Each volume is attached to a node before it is mounted; a shared directory is not. */
  attachable: !isDirectory(scenario.disk.mode),
  /** Declared for many nodes (util.IsMultiAttachAllowed). */
  forMany: scenario.volume.accessMode === 'ReadWriteMany',
  tolerationUs: scenario.timers.toleration * msUs,
  cutAfterUs: scenario.disk.cutAfter * msUs,
  terminationGraceUs: scenario.workload.terminationGrace * msUs,
  preStopUs: scenario.workload.preStop * msUs,
  selfFenceAfterUs: scenario.selfFence.after * msUs,
});
/** What each volume, its database or its pod has of its own. */
export type VolumeSettings = Readonly<ReturnType<typeof volumeSettingsOf>>;

export const timersOf = (scenario: Scenario): Timers => ({
  ...clusterTimersOf(scenario),
  tolerationMs: scenario.timers.toleration,
  terminationGraceMs: scenario.workload.terminationGrace,
});

export class World implements Lookout {
  readonly kernel: Kernel;
  readonly chance: Chance;
  readonly database: Database;
  readonly settings: ClusterSettings;
  readonly #first: VolumeSettings;
  readonly #ofVolumes: readonly VolumeSettings[];
  readonly api = new Api(this);
  /** While it stands still, so does all that needs it. */
  readonly apiServer: Process;
  see: Lookout['see'];
  notice: Notify = () => undefined;
  /** By the number of the node. */
  readonly machines: { readonly state: string }[] = [];

  /** `others`: of the volumes after the first; all agree in what is the cluster's. */
  constructor(
    kernel: Kernel,
    chance: Chance,
    database: Database,
    scenario: Scenario,
    others: readonly Scenario[],
  ) {
    this.kernel = kernel;
    this.chance = chance;
    this.database = database;
    this.settings = clusterSettingsOf(scenario);
    this.#first = volumeSettingsOf(scenario);
    this.#ofVolumes = [this.#first, ...others.map(volumeSettingsOf)];
    this.apiServer = new Process(kernel);
  }

  isOff({ index }: NodeObject): boolean {
    return this.machines[index]?.state === 'stopped';
  }

  /** Those of the first where more volumes are than scenarios. */
  of(volume: number): VolumeSettings {
    return this.#ofVolumes[volume] ?? this.#first;
  }
}

export const draw = ({ chance }: Pick<World, 'chance'>, range: DurationRange): number =>
  chance.within(range);

/** The first moment of a grid at or after a time. */
export const onGrid = (atUs: number, phaseUs: number, periodUs: number): number =>
  phaseUs + Math.max(0, Math.ceil((atUs - phaseUs) / periodUs)) * periodUs;
