/** The node that is cut off: what its own host is told, what the other node and the API see of it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Arming, Ended, NodeShell } from '../../cluster/node-shell.ts';
import { InfrastructureError } from '../../errors.ts';
import { answered, kubectl } from '../../user-cluster.ts';
import type { ProbeClients } from '../clients.ts';
import { isReady } from '../../kube.ts';
import { createPod } from '../trials/volume-pods.ts';
import { followLog, type Followed } from '../trials/follow-log.ts';
import { mustStart, nowMs } from '../trials/view.ts';
import { vantageName, vantagePod } from './objects.ts';
import { hostPodMs, podShell, toldOf } from './pod-shell.ts';
import { looksOf, type ReachabilityLook } from './record.ts';
import type { CutContext } from './volume.ts';

const lookMs = 500;

/** What a script said on the first node's host. Throws as `heard` does, and as the pod shell. */
export async function onHost(
  context: CutContext,
  name: string,
  script: string,
): Promise<readonly string[]> {
  const shell = podShell(context, name);
  return heard(shell, name, await shell.run(['sh', '-c', script]));
}

/** The same for what is left with the host. */
export async function armedOnHost(
  context: CutContext,
  name: string,
  arming: Arming,
): Promise<readonly string[]> {
  const shell = podShell(context, name);
  const sent = await shell.arm(arming);
  return heard(shell, name, await sent.ended());
}

/** Lines that a host said. Throws InfrastructureError `CUT_HOST` where its command failed. */
export function heard(
  { node }: Pick<NodeShell, 'node'>,
  name: string,
  { exitCode, stdout }: Ended,
): readonly string[] {
  const lines = stdout.split('\n').filter(Boolean);
  if (exitCode === 0) return lines;
  throw new InfrastructureError('CUT_HOST', `${name} failed on ${node}: ${lines.join('; ')}`, {
    hint: 'the host needs systemd, nftables and iproute2; --cut-by kubelet needs systemd only',
  });
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
          `the second node did not observe the first one ${what} within ${timeoutMs / 1000} s`,
          {
            hint: 'pods may start too slowly here, so that the heal came first; or the kubelet is reached by another way than the default routes',
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
          ? 'its kubelet does not run, or does not reach the API: look at the console of the node'
          : 'the kubelet still reaches the API, or the cluster waits longer for a silent node',
        command: kubectl(clients, `describe node ${name}`),
      });
    }
    await sleep(lookMs, undefined, { signal });
  }
}
