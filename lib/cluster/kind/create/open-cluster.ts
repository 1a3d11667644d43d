/** From what the user chose to a cluster: images, the kind binary, a cluster of our own. */
import * as engine from '../../../engine/commands.ts';
import { tryRun } from '../../../engine/run.ts';
import { InfrastructureError, UsageError } from '../../../errors.ts';
import type { Scenario } from '../../../experiment/scenario.ts';
import { ensureImages } from '../../../images/ensure.ts';
import type { ImageSet, ImageSource } from '../../../images/image-set.ts';
import { ensureKind } from '../../../images/kind-binary.ts';
import type { FeatureGates } from '../../../kubernetes-versions.ts';
import { type Cluster, ensureCluster } from '../cluster.ts';
import { clusterInTurn } from '../in-turn.ts';
import { kindWorkers } from '../ownership/labels.ts';
import type { TestbedOptions } from '../../port.ts';

export interface ClusterChoice {
  /** Default `auto`: published where a registry answers, else built. */
  readonly images?: ImageSource | 'auto';
  /** Holds what this checkout would build. Default: none. */
  readonly registry?: string | undefined;
  /** Default `main`. */
  readonly clusterName?: string;
  /** Default 2; of a group one for each member. */
  readonly workers?: number | undefined;
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

export interface ClusterRequest extends Pick<TestbedOptions, 'runId' | 'onProgress' | 'signal'> {
  readonly scenario: Pick<Scenario, (typeof clusterFields)[number]>;
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
  const { clusterName: name = 'main', workers = kindWorkers, keep = false } = choice;
  const { graceMs, forceDetachAfterMs, forceDetach, featureGates } = scenario;
  const cluster = await ensureCluster({
    ...{ name, images, kind: await ensureKind(), runId, workers, keep },
    ...{ graceMs, forceDetachAfterMs, forceDetach, featureGates, onProgress, signal },
  });
  return { cluster, images };
}

/**
 * Before a cluster is made whose parts won't start: throws UsageError `GATE_UNKNOWN` where the node image's kubelet does not know one of them.
 */
async function refuseUnknownGates(
  { node, kubernetesVersion }: { readonly node: string; readonly kubernetesVersion: string },
  gates: FeatureGates,
): Promise<void> {
  const asked = Object.keys(gates);
  if (asked.length === 0) return;
  // Components share one list; kubelet is in each node image, whoever made it.
  const argv = engine.runOnce(['--network', 'none', '--entrypoint', 'kubelet'], node, '--help');
  const { exitCode, stdout, stderr } = await tryRun(argv, { timeoutMs: 60_000 });
  const known = gatesIn(stdout);
  if (exitCode !== 0 || known.length === 0) {
    throw new InfrastructureError('GATES_NOT_LISTED', 'kubelet does not list its feature gates', {
      hint: stderr.trim().split('\n').at(-1) ?? 'its --help does not list any',
    });
  }
  const unknown = asked.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new UsageError(
    'GATE_UNKNOWN',
    `Kubernetes ${kubernetesVersion} has no feature gate ${unknown}`,
    { hint: `it has ${known.length}, such as ${closest(unknown, known).join(', ')}` },
  );
}

/** Names of the list that kubelet prints: `NAME=true|false (BETA - default=true)`. */
export const gatesIn = (help: string): string[] =>
  [...help.matchAll(/\b([A-Z][A-Za-z0-9]+)=true\|false \(/g)].flatMap(([, name]) => name ?? []);

/** Three that share most of its beginning. */
function closest(name: string, known: readonly string[]): string[] {
  const shared = (other: string): number => {
    let length = 0;
    while (length < name.length && other[length] === name[length]) length += 1;
    return length;
  };
  return known.toSorted((a, b) => shared(b) - shared(a)).slice(0, 3);
}
