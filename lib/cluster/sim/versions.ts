/** What differs between the Kubernetes versions that the model plays. */
import type { Scenario } from '../../experiment/scenario.ts';
import type { attachGateTexts } from '../../history/observations.ts';
import { minorOf } from '../../kubernetes-versions.ts';

export interface VersionTraits {
  /** Stock --node-monitor-grace-period (nodelifecycle/config/v1alpha1/defaults.go, #126287). */
  readonly graceMs: number;
  /**
   * A detach that failed leaves the volume uncertain, so that another node may attach it (#120595;
   * 1.28 got it with 1.28.4, #121079: here 1.28 is an older patch).
   */
  readonly uncertainAfterError: boolean;
  /**
   * How the event of a refused attach begins (attachdetach/reconciler/reconciler.go
   * reportMultiAttachError).
   */
  readonly attachGateText: (typeof attachGateTexts)[number];
  /**
   * Before a node is given up its Lease is read from the API: one whose resourceVersion is not that of
   * the last renewal seen counts as a stale cache, and the node is left as it is
   * (nodelifecycle/node_lifecycle_controller.go tryUpdateNodeHealth; gate
   * NodeControllerLeaseCircuitBreaker, on).
   */
  readonly asksLeaseAgain: boolean;
}

const before132: VersionTraits = {
  graceMs: 40_000,
  uncertainAfterError: true,
  attachGateText: 'Multi-Attach error',
  asksLeaseAgain: false,
};
const since132: VersionTraits = { ...before132, graceMs: 50_000 };
const since137: VersionTraits = {
  ...since132,
  attachGateText: 'Waiting for detach',
  asksLeaseAgain: true,
};

const versionTraits: Readonly<Record<string, VersionTraits>> = {
  '1.28': { ...before132, uncertainAfterError: false },
  '1.29': before132,
  '1.30': before132,
  '1.31': before132,
  '1.32': since132,
  '1.33': since132,
  '1.34': since132,
  '1.35': since132,
  '1.36': since132,
  '1.37': since137,
};

/** Of a minor, or of a patch of it, with these feature gates set. */
export function traitsOf({
  kubernetes,
  featureGates,
}: Pick<Scenario, 'kubernetes' | 'featureGates'>): VersionTraits {
  const traits = versionTraits[minorOf(kubernetes)];
  if (traits === undefined) throw new Error(`the model does not play Kubernetes ${kubernetes}`);
  const { NodeControllerLeaseCircuitBreaker: asksLeaseAgain = true } = featureGates;
  return { ...traits, asksLeaseAgain: traits.asksLeaseAgain && asksLeaseAgain };
}
