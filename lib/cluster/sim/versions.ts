/** What differs between the Kubernetes versions that the model plays. */
import type { Scenario } from '../../experiment/scenario.ts';
import type { attachGateTexts } from '../../history/observations.ts';
import { asksLeaseAgain, minorOf, restartGate } from '../../kubernetes-versions.ts';

interface VersionTraits {
  /** Stock --node-monitor-grace-period (nodelifecycle/config/v1alpha1/defaults.go, #126287). */
  readonly graceMs: number;
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
}

/** Those that a gate decides as well. */
export interface Traits extends VersionTraits {
  /** kubernetes-versions.ts asksLeaseAgain. */
  readonly asksLeaseAgain: boolean;
}

const before132: VersionTraits = {
  graceMs: 40_000,
  uncertainAfterError: true,
  attachGateText: 'Multi-Attach error',
  readyLostOnKubeletRestart: true,
};
const since132: VersionTraits = { ...before132, graceMs: 50_000 };
const since135: VersionTraits = { ...since132, readyLostOnKubeletRestart: false };
const since137: VersionTraits = { ...since135, attachGateText: 'Waiting for detach' };

const versionTraits: Readonly<Record<string, VersionTraits>> = {
  '1.28': { ...before132, uncertainAfterError: false },
  '1.29': before132,
  '1.30': before132,
  '1.31': before132,
  '1.32': since132,
  '1.33': since132,
  '1.34': since132,
  '1.35': since135,
  '1.36': since135,
  '1.37': since137,
};

/** Traits of a minor, or of a patch of it, with its feature gates. */
export function traitsOf(of: Pick<Scenario, 'kubernetes' | 'featureGates'>): Traits {
  const traits = versionTraits[minorOf(of.kubernetes)];
  if (traits === undefined) throw new Error(`the model does not play Kubernetes ${of.kubernetes}`);
  const { [restartGate]: readyLostByGate = false } = of.featureGates;
  return {
    ...traits,
    uncertainAfterError: traits.uncertainAfterError || isPatched(of.kubernetes),
    readyLostOnKubeletRestart: traits.readyLostOnKubeletRestart || readyLostByGate,
    asksLeaseAgain: asksLeaseAgain(of),
  };
}

/** #121079, in the fifth patch of 1.28. */
const isPatched = (kubernetes: string): boolean => Number(kubernetes.split('.')[2] ?? 0) >= 4;
