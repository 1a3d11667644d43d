/** The node that is cut off: what its own host is told, what the other node and the API see of it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { InfrastructureError } from '../../errors.ts';
import { answered, kubectl } from '../../user-cluster.ts';
import type { ProbeClients } from '../clients.ts';
import { isReady } from '../../kube.ts';
import { createPod } from '../trials/volume-pods.ts';
import { followLog, type Followed } from '../trials/follow-log.ts';
import { containerName } from '../trials/objects.ts';
import { mustStart, nowMs, unstartable } from '../trials/view.ts';
import { hostPod, vantageName, vantagePod } from './objects.ts';
import { looksOf, type ReachabilityLook } from './record.ts';
import type { CutContext } from './volume.ts';

const hostPodMs = 120_000;
const lookMs = 500;

/** Runs a script on a node's host and resolves to what it said. Throws as `hostSaid` does. */
export async function onHost(
  context: CutContext,
  name: string,
  script: string,
): Promise<readonly string[]> {
  await startOnHost(context, name, script);
  return hostSaid(context, name);
}

/** Waits for nothing: of a script that cuts its node off no word may come any more. */
export async function startOnHost(
  { clients, namespace, plan, signal }: CutContext,
  name: string,
  script: string,
): Promise<void> {
  const [node] = plan.nodes;
  const pod = hostPod({ namespace, node, image: plan.image }, name, script);
  await createPod(clients.core, namespace, pod, signal);
}

/** Once it has ended. Throws `CUT_HOST` where it failed; as `mustStart` and `View.until` do. */
export async function hostSaid(context: CutContext, name: string): Promise<readonly string[]> {
  const { clients, namespace, plan, view } = context;
  const [node] = plan.nodes;
  const what = `the pod ${name} has ended on ${node}`;
  const ended = await view.until({ what, timeoutMs: hostPodMs }, () => {
    const pod = view.pod(name)?.pod;
    const { phase } = pod?.status ?? {};
    // To end is what it is for.
    mustStart(name, pod, unstartable);
    return phase === 'Succeeded' || phase === 'Failed' ? { phase } : toldOf(context, name);
  });
  const logged = { name, namespace, container: containerName };
  const text = await clients.core.readNamespacedPodLog(logged);
  const lines = text.split('\n').filter(Boolean);
  if (ended.phase === 'Succeeded') return lines;
  throw new InfrastructureError('CUT_HOST', `${name} failed on ${node}: ${lines.join('; ')}`, {
    hint: 'the host needs systemd, nftables and iproute2; --cut-by kubelet needs systemd only',
  });
}

/** Words on a pod that has not come to it yet. */
function toldOf({ view }: CutContext, name: string): string {
  const last = view.eventsOf(name).at(-1);
  const event = last === undefined ? 'no event yet' : `${last.reason}: ${last.message}`;
  return `it is ${view.pod(name)?.pod.status?.phase ?? 'not there'}, ${event}`;
}

/** What the second node sees of the first one's kubelet, from now on. */
export class Vantage {
  readonly #followed: Followed;

  private constructor(followed: Followed) {
    this.#followed = followed;
  }

  static async start(context: CutContext): Promise<Vantage> {
    const { clients, namespace, plan, signal, view } = context;
    const [a, node] = plan.nodes;
    const target = await addressOf(clients, a);
    const pod = vantagePod({ namespace, node, image: plan.image }, target);
    await createPod(clients.core, namespace, pod, signal);
    await view.until({ what: `the pod ${vantageName} runs`, timeoutMs: hostPodMs }, () => {
      const found = view.pod(vantageName);
      if (found?.seen.runningMs !== undefined) return true;
      mustStart(vantageName, found?.pod);
      return toldOf(context, vantageName);
    });
    const vantage = new Vantage(
      followLog({ config: clients.config, namespace, pod: vantageName, signal }),
    );
    await vantage.until('up', nowMs() - hostPodMs, { timeoutMs: 30_000, signal });
    return vantage;
  }

  get looks(): readonly ReachabilityLook[] {
    return looksOf(this.#followed.lines.map(({ line }) => line));
  }

  /** When it was first so since then, on the vantage point's clock. Throws `CUT_NOT_SEEN`. */
  async until(
    word: ReachabilityLook['word'],
    sinceMs: number,
    { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<number> {
    for (const endMs = nowMs() + timeoutMs; ; ) {
      const lines = this.#followed.lines.filter(({ atMs }) => atMs >= sinceMs);
      const seen = lines.find(({ line }) => line.split(' ')[1] === word);
      if (seen !== undefined) return seen.atMs;
      if (nowMs() > endMs) {
        const what = word === 'up' ? 'reachable again' : 'cut off';
        throw new InfrastructureError(
          'CUT_NOT_SEEN',
          `the second node did not see the first one ${what} in ${timeoutMs / 1000} s`,
          {
            hint: 'a cut that comes after its own heal is not made: pods may start too slowly here; else its kubelet is reached another way than by the default routes',
          },
        );
      }
      await sleep(lookMs, undefined, { signal });
    }
  }
}

async function addressOf(clients: ProbeClients, name: string): Promise<string> {
  const reading = clients.core.readNode({ name });
  const { status } = await answered(clients, `read the node ${name}`, reading);
  return status?.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? '';
}

/** When the API first says so. Throws `CUT_NODE` after `timeoutMs`. */
export async function nodeIs(
  { clients, plan, signal }: CutContext,
  ready: boolean,
  timeoutMs: number,
): Promise<number> {
  const [name] = plan.nodes;
  for (const endMs = nowMs() + timeoutMs; ; ) {
    const node = await clients.core.readNode({ name }).catch(() => undefined);
    if (node !== undefined && isReady(node.status) === ready) return nowMs();
    if (nowMs() > endMs) {
      const what = `${name} is ${ready ? 'not Ready again' : 'Ready still'}`;
      throw new InfrastructureError('CUT_NODE', `${what} after ${timeoutMs / 1000} s`, {
        hint: ready
          ? 'its kubelet does not run, or does not reach the API: see to it by its console'
          : 'the cut does not keep its kubelet from the API, or the cluster is more patient with a silent node than that',
        command: kubectl(clients, `describe node ${name}`),
      });
    }
    await sleep(lookMs, undefined, { signal });
  }
}
