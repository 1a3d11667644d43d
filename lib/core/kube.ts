/** Clients of the Kubernetes API from one kubeconfig, and what is asked of it again and again. */
import type { KubeConfig, KubernetesObject, V1Taint } from '@kubernetes/client-node';
import pRetry, { type Options as RetryOptions } from 'p-retry';
import { emptyKubeConfig } from './kubernetes-client.ts';

async function made(config: KubeConfig) {
  // Imported here and not at the top: it takes most of a second.
  const kubernetes = await import('@kubernetes/client-node');
  return {
    config,
    core: config.makeApiClient(kubernetes.CoreV1Api),
    apps: config.makeApiClient(kubernetes.AppsV1Api),
    batch: config.makeApiClient(kubernetes.BatchV1Api),
    coordination: config.makeApiClient(kubernetes.CoordinationV1Api),
    storage: config.makeApiClient(kubernetes.StorageV1Api),
    policy: config.makeApiClient(kubernetes.PolicyV1Api),
    admission: config.makeApiClient(kubernetes.AdmissionregistrationV1Api),
    authorization: config.makeApiClient(kubernetes.AuthorizationV1Api),
    authentication: config.makeApiClient(kubernetes.AuthenticationV1Api),
    custom: config.makeApiClient(kubernetes.CustomObjectsApi),
    version: config.makeApiClient(kubernetes.VersionApi),
    /** Any kind of object, for manifests. */
    objects: kubernetes.KubernetesObjectApi.makeApiClient(config),
  };
}
/** A client of each API that somebody here asks. */
export type KubeClients = Readonly<Awaited<ReturnType<typeof made>>>;
export const clientsOf = (config: KubeConfig): Promise<KubeClients> => made(config);

/** `timeoutMs`: as of `emptyKubeConfig`. */
export async function kubeClients(
  kubeconfigPath: string,
  timeoutMs?: number,
): Promise<KubeClients> {
  const config = await emptyKubeConfig(timeoutMs);
  config.loadFromFile(kubeconfigPath);
  return clientsOf(config);
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
