/** From what the user chose to a cluster: images, the kind binary, a cluster of our own. */
import type { Scenario } from '../../../experiment/scenario.ts';
import { ensureImages } from '../../../images/ensure.ts';
import type { ImageSet, ImageSource } from '../../../images/image-set.ts';
import { ensureKind } from '../../../images/kind-binary.ts';
import { ensureCluster, type Cluster } from '../cluster.ts';
import { clusterInTurn } from '../in-turn.ts';
import { refuseUnknownGates } from './feature-gates.ts';

export interface ClusterChoice {
  /** Default `auto`: published where a registry answers, else built. */
  readonly images?: ImageSource | 'auto';
  /** Holds what this checkout would build. Default: none. */
  readonly registry?: string | undefined;
  /** Default `main`. */
  readonly clusterName?: string;
  /** Default 2. */
  readonly workers?: number;
  /** Keep the cluster after the run; default false. */
  readonly keep?: boolean;
}

/** Fields of a scenario that a cluster is made with. */
export const clusterFields = [
  'kubernetes',
  'featureGates',
  'graceMs',
  'forceDetachAfterMs',
  'forceDetach',
  'provision',
] as const satisfies readonly (keyof Scenario)[];

export interface ClusterRequest {
  readonly scenario: Pick<Scenario, (typeof clusterFields)[number]>;
  readonly runId: string;
  readonly onProgress: (line: string) => void;
  readonly signal: AbortSignal;
}

export interface OpenCluster {
  readonly cluster: Cluster;
  readonly images: ImageSet;
}

/** Whoever asks releases the cluster. */
export const openCluster = (choice: ClusterChoice, request: ClusterRequest): Promise<OpenCluster> =>
  clusterInTurn(() => open(choice, request));

async function open(
  choice: ClusterChoice,
  { scenario, runId, onProgress, signal }: ClusterRequest,
): Promise<OpenCluster> {
  signal.throwIfAborted();
  const images = await ensureImages({
    source: choice.images ?? 'auto',
    registry: choice.registry,
    kubernetes: scenario.kubernetes,
    provisioner: scenario.provision === 'dynamic',
    onProgress,
    signal,
  });
  await refuseUnknownGates(images, scenario.featureGates);
  const cluster = await ensureCluster({
    name: choice.clusterName ?? 'main',
    images,
    kind: await ensureKind(),
    runId,
    workers: choice.workers ?? 2,
    graceMs: scenario.graceMs,
    forceDetachAfterMs: scenario.forceDetachAfterMs,
    forceDetach: scenario.forceDetach,
    featureGates: scenario.featureGates,
    keep: choice.keep ?? false,
    onProgress,
    signal,
  });
  return { cluster, images };
}
