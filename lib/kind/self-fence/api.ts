/** What the sidecar reads of Kubernetes: is its node alive, and is its pod still the one that is meant. */
import { z } from 'zod';
import { kubernetesGet, type ApiServer } from '../../core/index.ts';

/** The pod that the sidecar belongs to. */
export interface Self {
  readonly node: string;
  readonly namespace: string;
  readonly pod: string;
  readonly podUid: string;
}

const leaseSchema = z.object({ spec: z.object({ renewTime: z.string() }) });
const podSchema = z.object({
  metadata: z.object({ uid: z.string(), deletionTimestamp: z.string().optional() }),
});

/** When the kubelet last renewed the node's Lease, as it says itself. Rejects without an answer. */
export async function renewalOf(
  server: ApiServer,
  { node }: Self,
  timeoutMs: number,
): Promise<string> {
  const path = `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${node}`;
  const { status, body } = await kubernetesGet(server, path, timeoutMs);
  if (status !== 200) throw new TypeError(`the API server answered ${status}: ${body}`);
  return leaseSchema.parse(JSON.parse(body)).spec.renewTime;
}

/**
 * False once the pod was deleted, is being deleted, or another one has its name: a node that comes
 * back renews its Lease before its kubelet has stopped what it lost. Rejects without an answer.
 */
export async function stillWanted(
  server: ApiServer,
  { namespace, pod, podUid }: Self,
  timeoutMs: number,
): Promise<boolean> {
  const path = `/api/v1/namespaces/${namespace}/pods/${pod}`;
  const { status, body } = await kubernetesGet(server, path, timeoutMs);
  if (status === 404) return false;
  if (status !== 200) throw new TypeError(`the API server answered ${status}: ${body}`);
  const { uid, deletionTimestamp } = podSchema.parse(JSON.parse(body)).metadata;
  return uid === podUid && deletionTimestamp === undefined;
}
