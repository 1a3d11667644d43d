/** The Kubernetes versions that a run may ask for: what the model plays, what clusters are made of. */
import { UsageError } from './errors.ts';

/** Those that the model plays. */
export const kubernetesMinors: readonly string[] = [
  ...['1.28', '1.29', '1.30', '1.31', '1.32', '1.33'],
  ...['1.34', '1.35', '1.36', '1.37'],
];
/** The newest; both on clusters and on the model. */
export const kubernetesDefault = '1.37';
/** Version of everything recorded before scenarios named theirs. */
export const kubernetesBeforeNamed = '1.34';

/** What a cluster of a minor is made of. */
export interface KubernetesRelease {
  /** The newest patch that the Go module proxy has: `built` compiles it. */
  readonly built: string;
  /** kind 0.33.0's node image for it (its release notes), by digest: `published` pulls it. */
  readonly published: string;
  readonly digest: string;
  /** The month after which nobody mends it (kubernetes.io/releases/patch-releases). */
  readonly endOfLife: string;
}

/** Newest first: those that clusters are made of. */
export const kubernetesReleases: Readonly<Record<string, KubernetesRelease>> = {
  '1.37': {
    built: '1.37.2',
    published: '1.37.0',
    digest: 'sha256:a1ed56cfb0e7b93589bdf97c8cd566405a265939e3620fc4f5de89adff580ae5',
    endOfLife: '2027-10',
  },
  '1.36': {
    built: '1.36.3',
    published: '1.36.4',
    digest: 'sha256:099e049362a1526b2db71494e1947aae99bd16290d7c895f2b7ea312e3cbfaed',
    endOfLife: '2027-06',
  },
  '1.35': {
    built: '1.35.4',
    published: '1.35.8',
    digest: 'sha256:07b2536e30b803ed61d1677a79df6115f798ce64c80f9e22f6ed45afd09323c0',
    endOfLife: '2027-02',
  },
  '1.34': {
    built: '1.34.4',
    published: '1.34.11',
    digest: 'sha256:44e222ee2132dab25ff87301682f89eb82c7880ea3a1bf543bfe9708fd08d67d',
    endOfLife: '2026-10',
  },
};

/** `1.37` of `1.37` and of `1.37.2`. */
export const minorOf = (kubernetes: string): string => kubernetes.split('.', 2).join('.');

/** A minor that the model plays, or a patch of one. */
export const isKubernetes = (word: string): boolean =>
  /^1\.\d+(\.\d+)?$/.test(word) && kubernetesMinors.includes(minorOf(word));

export const kubernetesWords = `${kubernetesMinors[0] ?? ''} to ${kubernetesMinors.at(-1) ?? ''}, or a patch such as 1.37.2`;

/** By name: on or off, for all components. */
export type FeatureGates = Readonly<Record<string, boolean>>;

/** `A=true, B=false`, as the flag takes them. */
export const gatesText = (gates: FeatureGates): string =>
  Object.entries(gates)
    .map(([name, on]) => `${name}=${on}`)
    .join(', ');

const leaseGate = 'NodeControllerLeaseCircuitBreaker';
export const restartGate = 'ChangeContainerStatusOnKubeletRestart';
const gatesOf: Readonly<Record<string, readonly string[]>> = {
  '1.35': [restartGate],
  '1.36': [restartGate],
  '1.37': [restartGate, leaseGate],
};

/** Feature gates that the model plays, in that version. */
export const modelledGates = (kubernetes: string): readonly string[] =>
  gatesOf[minorOf(kubernetes)] ?? [];

/**
 * Whether a node's Lease is read from the API before the node is given up: one whose resourceVersion
 * is not that of the last renewal seen counts as a stale cache, and the node is left as it is
 * (nodelifecycle/node_lifecycle_controller.go tryUpdateNodeHealth; on by default since 1.37).
 */
export const asksLeaseAgain = (of: {
  readonly kubernetes: string;
  readonly featureGates: FeatureGates;
}): boolean =>
  modelledGates(of.kubernetes).includes(leaseGate) && of.featureGates[leaseGate] !== false;

/**
 * The full version that images are made of, e.g. `1.37.2` for `1.37`.
 * Throws UsageError `KUBERNETES_NOT_MEASURABLE` or `KUBERNETES_NOT_PUBLISHED`.
 */
export function releaseOf(kubernetes: string, source: 'built' | 'published'): string {
  const release = kubernetesReleases[minorOf(kubernetes)];
  if (release === undefined) {
    const known = Object.keys(kubernetesReleases).join(', ');
    throw new UsageError(
      'KUBERNETES_NOT_MEASURABLE',
      `Kubernetes ${kubernetes} runs on the model only, not on a cluster`,
      { hint: `clusters run ${known}`, again: ['--cluster', 'sim'] },
    );
  }
  const isPatch = kubernetes !== minorOf(kubernetes);
  if (source === 'built') return isPatch ? kubernetes : release.built;
  if (!isPatch || kubernetes === release.published) return release.published;
  throw new UsageError(
    'KUBERNETES_NOT_PUBLISHED',
    `there is no pinned node image of Kubernetes ${kubernetes}`,
    { hint: `use ${release.published}, or build it here`, again: ['--images', 'built'] },
  );
}
