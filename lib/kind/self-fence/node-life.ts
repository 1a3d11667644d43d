/** What the self-fencing sidecar reads and ends: whether its node is alive, whether its pod is still the one that is meant, and the database's processes. */
import { readdir, readFile } from 'node:fs/promises';
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

/*
 * How long a node may go on without a sign that Kubernetes still takes it for alive: pure, on a
 * clock that its user gives.
 */

export class Deadline {
  readonly #afterMs: number;
  #renewal: string | undefined;
  /** When the question began whose answer first showed that renewal. */
  #aliveAtMs: number | undefined;

  constructor(afterMs: number) {
    this.#afterMs = afterMs;
  }

  /**
   * The Lease shows this renewal. Only a renewal that is new counts: the first one may be as old
   * as it likes. It counts from the question, before which the renewal may have happened, never after.
   */
  note(renewal: string, beganAtMs: number): void {
    if (this.#renewal !== undefined && renewal !== this.#renewal) this.#aliveAtMs = beganAtMs;
    this.#renewal = renewal;
  }

  /** Without a renewal yet: not alive. */
  isAlive(nowMs: number): boolean {
    return this.#aliveAtMs !== undefined && nowMs - this.#aliveAtMs < this.#afterMs;
  }

  /** Undefined before the first renewal. */
  silentForMs(nowMs: number): number | undefined {
    return this.#aliveAtMs === undefined ? undefined : nowMs - this.#aliveAtMs;
  }
}

/** Ends every process of that name at once; resolves to those it ended. */
export async function killAll(name: string, proc = '/proc'): Promise<number[]> {
  const killed: number[] = [];
  for (const entry of await readdir(proc)) {
    if (!/^\d+$/.test(entry)) continue;
    const comm = await readFile(`${proc}/${entry}/comm`, 'utf8').catch(() => '');
    if (comm.trim() === name && kill(Number(entry))) killed.push(Number(entry));
  }
  return killed;
}

/** False where it was gone already. */
function kill(pid: number): boolean {
  try {
    process.kill(pid, 'SIGKILL');
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
    throw error;
  }
}
