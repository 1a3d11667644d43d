/** Clients of the Kubernetes API from one kubeconfig, and what is asked of it again and again. */
import type {
  AppsV1Api,
  CoordinationV1Api,
  CoreV1Api,
  KubeConfig,
  KubernetesObject,
  KubernetesObjectApi,
  StorageV1Api,
  V1Taint,
} from '@kubernetes/client-node';
import pRetry, { type Options as RetryOptions } from 'p-retry';
import { emptyKubeConfig } from './kubernetes-client.ts';

export interface KubeClients {
  readonly config: KubeConfig;
  readonly core: CoreV1Api;
  readonly apps: AppsV1Api;
  readonly coordination: CoordinationV1Api;
  readonly storage: StorageV1Api;
  /** Any kind of object, for manifests. */
  readonly objects: KubernetesObjectApi;
}

/** `timeoutMs`: as of `emptyKubeConfig`. */
export async function kubeClients(
  kubeconfigPath: string,
  timeoutMs?: number,
): Promise<KubeClients> {
  // Imported here and not at the top: it takes most of a second.
  const { AppsV1Api, CoordinationV1Api, CoreV1Api, KubernetesObjectApi, StorageV1Api } =
    await import('@kubernetes/client-node');
  const config = await emptyKubeConfig(timeoutMs);
  config.loadFromFile(kubeconfigPath);
  return {
    config,
    core: config.makeApiClient(CoreV1Api),
    apps: config.makeApiClient(AppsV1Api),
    coordination: config.makeApiClient(CoordinationV1Api),
    storage: config.makeApiClient(StorageV1Api),
    objects: KubernetesObjectApi.makeApiClient(config),
  };
}

interface WithConditions {
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
}

/** Whether a node's or a pod's condition Ready holds; not where it is unknown. */
export const isReady = (status: WithConditions | undefined): boolean =>
  status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';

/** Creates or changes objects, as `kubectl apply --server-side --force-conflicts` does. */
export async function apply(
  { objects }: KubeClients,
  manifests: readonly KubernetesObject[],
): Promise<void> {
  const { PatchStrategy } = await import('@kubernetes/client-node');
  const manager = 'forcedetach';
  for (const manifest of manifests) {
    const { ServerSideApply } = PatchStrategy;
    await objects.patch(manifest, undefined, undefined, manager, true, ServerSideApply);
  }
}

/** The HTTP status that the API answered with, where it answered. */
export const statusOf = (error: unknown): number | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'number'
    ? error.code
    : undefined;

/** Undefined instead of an error where there is no such object. */
export async function orMissing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (statusOf(error) === 404) return undefined;
    throw error;
  }
}

/**
 * The controllers taint, too: a node's are changed only on the version that was read. `change` gives
 * undefined where there is nothing to do.
 */
export const changeTaints = (
  { core }: Pick<KubeClients, 'core'>,
  name: string,
  change: (taints: readonly V1Taint[]) => readonly V1Taint[] | undefined,
  options: RetryOptions = { minTimeout: 50 },
): Promise<void> =>
  pRetry(
    async () => {
      const { metadata, spec } = await core.readNode({ name });
      const value = change(spec?.taints ?? []);
      if (value === undefined) return;
      const version = metadata?.resourceVersion;
      const body = [
        { op: 'test', path: '/metadata/resourceVersion', value: version },
        { op: 'add', path: '/spec/taints', value },
      ];
      await core.patchNode({ name, body });
    },
    { retries: 5, ...options },
  );
