/** The Kubernetes port over the real API. */
import type { V1Pod, V1Taint } from '@kubernetes/client-node';
import pRetry from 'p-retry';
import type { Kubernetes, PodRef } from '../port.ts';
import type { KubeClients } from './kube.ts';

const namespace = 'default';
/** Label of the database's pods (manifests/mysql). */
export const podSelector = 'app=mysql';

export function kubernetesOf({ core }: KubeClients): Kubernetes {
  /** The node lifecycle controller sets taints too: change them only on the version that was read. */
  const changeTaints = (
    node: string,
    change: (taints: readonly V1Taint[]) => V1Taint[],
  ): Promise<void> =>
    pRetry(
      async () => {
        const { metadata, spec } = await core.readNode({ name: node });
        const value = change(spec?.taints ?? []);
        const version = metadata?.resourceVersion;
        await core.patchNode({
          name: node,
          body: [
            { op: 'test', path: '/metadata/resourceVersion', value: version },
            { op: 'add', path: '/spec/taints', value },
          ],
        });
      },
      { retries: 5, minTimeout: 50 },
    );
  return {
    async databasePod(): Promise<PodRef | undefined> {
      const { items } = await core.listNamespacedPod({ namespace, labelSelector: podSelector });
      return newestFirst(items)
        .map(refOf)
        .find((ref) => ref !== undefined);
    },

    async forceDelete(pod): Promise<void> {
      await core
        .deleteNamespacedPod({
          name: pod.name,
          namespace,
          // In the body: the API server ignores the query's grace period where there is a body.
          body: { gracePeriodSeconds: 0, preconditions: { uid: pod.uid } },
        })
        .catch((error: unknown) => {
          if (!isGone(error)) throw error;
        });
    },

    taint: (node, taint) =>
      changeTaints(node, (taints) => [
        ...taints.filter(({ key, effect }) => key !== taint.key || effect !== taint.effect),
        taint,
      ]),

    untaint: (node, key) =>
      changeTaints(node, (taints) => taints.filter((each) => each.key !== key)),

    async isReady(node): Promise<boolean> {
      const { status } = await core.readNode({ name: node });
      return status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
    },
  };
}

/**
 * A Deployment makes the replacement while the old pod is Terminating: those that are not come
 * first, and of these the youngest.
 */
export function newestFirst(pods: readonly V1Pod[]): V1Pod[] {
  const leaving = ({ metadata }: V1Pod): number => (metadata?.deletionTimestamp ? 1 : 0);
  const bornMs = ({ metadata }: V1Pod): number => metadata?.creationTimestamp?.getTime() ?? 0;
  return pods.toSorted((a, b) => leaving(a) - leaving(b) || bornMs(b) - bornMs(a));
}

function refOf({ metadata, spec }: V1Pod): PodRef | undefined {
  const { name, uid } = metadata ?? {};
  const node = spec?.nodeName;
  return name === undefined || uid === undefined || node === undefined
    ? undefined
    : { name, uid, node };
}

/** 404: no such pod; 409: the precondition fails, another pod has the name now. */
const isGone = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 404 || error.code === 409);
