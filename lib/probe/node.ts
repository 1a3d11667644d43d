/** The node that is cut off: what its own host is told, what the other node and the API see of it. */
import {
  type Arming,
  type Ended,
  type NodeRunOptions,
  type NodeShell,
  type Sent,
  shBy,
  type ShellWith,
} from '../run/index.ts';
import { isReady, type UserClients, answered } from '../core/index.ts';
import { containerName, hostPod, vantageName, vantagePod } from './objects.ts';
import { type Came, followLog } from './follow.ts';
import { armingScript } from './host.ts';
import { type PodsContext, createPod } from './pods.ts';
import { lastEvent, mustStart, nowMs, poll, stateOf } from './view.ts';
import type { ReachabilityLook } from './judge/record.ts';
import { refusal } from './refusals.ts';

export interface NodeContext extends PodsContext {
  readonly namespace: string;
  readonly plan: { readonly nodes: readonly [string, string]; readonly image: string };
}

/** What is armed goes on whatever becomes of the pod. It can neither hold its node nor end it. */
export type PodShell = ShellWith<'arm'>;

/** Time that a short-lived pod has, from its creation to its end. */
const hostPodMs = 120_000;

/**
 * Shell of the first node, to which only its API leads: each command is a privileged pod that enters the
 * namespaces of the node's own first process, and ends. So it needs the node's network and its kubelet. `name`:
 * its pod's; a second command's ends with `-2`.
 */
export function podShell(context: NodeContext, name: string): PodShell {
  const { clients, namespace, plan, signal } = context;
  const [node] = plan.nodes;
  let sent = 0;
  const send = async (argv: readonly string[]): Promise<Sent> => {
    sent += 1;
    const pod = sent === 1 ? name : `${name}-${sent}`;
    const body = hostPod({ namespace, node, image: plan.image }, pod, argv);
    await createPod(clients.core, namespace, body, signal);
    return { ended: (options) => endOf(context, pod, options) };
  };
  const run: NodeShell['run'] = async (argv, options) => (await send(argv)).ended(options);
  return {
    ...{ node, run, sh: shBy({ node, run }) },
    arm: (arming) => send(['sh', '-c', armingScript(arming)]),
  };
}

/** Throws as `mustStart` and `View.until` do. */
async function endOf(
  { clients, namespace, plan, view }: NodeContext,
  name: string,
  { signal, timeoutMs = hostPodMs }: NodeRunOptions = {},
): Promise<Ended> {
  const what = `the pod ${name} has ended on ${plan.nodes[0]}`;
  const { exitCode } = await view.until({ what, timeoutMs }, () => {
    signal?.throwIfAborted();
    const pod = view.pod(name)?.pod;
    const { phase } = pod?.status ?? {};
    // To end is what it is for.
    mustStart(name, pod, false);
    if (phase === 'Succeeded') return { exitCode: 0 };
    // One that was evicted may have ended well, or never begun.
    if (phase === 'Failed') return { exitCode: (pod && stateOf(pod)?.terminated?.exitCode) || -1 };
    return `it is ${phase ?? 'not there'}, ${lastEvent(view, name)}`;
  });
  const logged = { name, namespace, container: containerName };
  const said = await clients.core.readNamespacedPodLog(logged);
  return { exitCode, stdout: said.trimEnd(), stderr: '' };
}

/**
 * What a script said on the first node's host, or what was said as something was left with it. Throws as
 * `heard` does, and as the pod shell.
 */
export async function onHost(
  context: NodeContext,
  name: string,
  what: string | Arming,
): Promise<readonly string[]> {
  const shell = podShell(context, name);
  return heard(
    shell,
    name,
    typeof what === 'string'
      ? await shell.run(['sh', '-c', what])
      : await (await shell.arm(what)).ended(),
  );
}

/** Lines that a host said. Throws InfrastructureError `CUT_HOST` where its command failed. */
export function heard(
  { node }: Pick<NodeShell, 'node'>,
  name: string,
  { exitCode, stdout }: Ended,
): readonly string[] {
  const lines = stdout.split('\n').filter(Boolean);
  if (exitCode === 0) return lines;
  throw refusal('CUT_HOST', `${name} failed on ${node}: ${lines.join('; ')}`);
}

/** What the second node sees of the first one's kubelet, from now on. */
export class Vantage {
  readonly #lines: readonly Came[];
  readonly #signal: AbortSignal;

  private constructor(lines: readonly Came[], signal: AbortSignal) {
    this.#lines = lines;
    this.#signal = signal;
  }

  static async start({ clients, namespace, plan, signal, view }: NodeContext): Promise<Vantage> {
    const [a, node] = plan.nodes;
    const pod = vantagePod({ namespace, node, image: plan.image }, await addressOf(clients, a));
    await createPod(clients.core, namespace, pod, signal);
    await view.until({ what: `the pod ${vantageName} runs`, timeoutMs: hostPodMs }, () => {
      const found = view.pod(vantageName);
      if (found?.seen.runningMs !== undefined) return true;
      mustStart(vantageName, found?.pod);
      return `it is ${found?.pod.status?.phase ?? 'not there'}, ${lastEvent(view, vantageName)}`;
    });
    const lines = followLog({ config: clients.config, namespace, pod: vantageName, signal });
    const vantage = new Vantage(lines, signal);
    await vantage.until('up', nowMs() - hostPodMs, 30_000);
    return vantage;
  }

  /** Changes of the word only. */
  get looks(): readonly ReachabilityLook[] {
    const looks = this.#lines.flatMap(({ line }): ReachabilityLook[] => {
      const [, word, at] = /^\d+ (up|down) (\d+)$/.exec(line) ?? [];
      return word === undefined
        ? []
        : [{ word: word as ReachabilityLook['word'], atMs: Number(at) }];
    });
    return looks.filter((look, index) => looks[index - 1]?.word !== look.word);
  }

  /** When it was first so since then, on the vantage point's clock. Throws `CUT_NOT_SEEN`. */
  until(word: ReachabilityLook['word'], sinceMs: number, timeoutMs: number): Promise<number> {
    const what = word === 'up' ? 'reachable again' : 'cut off';
    const late = (): Error =>
      refusal(
        'CUT_NOT_SEEN',
        `the second node did not observe the first one ${what} within ${timeoutMs / 1000} s`,
      );
    return poll({ timeoutMs, signal: this.#signal, late }, () => {
      const lines = this.#lines.filter(({ atMs }) => atMs >= sinceMs);
      return lines.find(({ line }) => line.split(' ')[1] === word)?.atMs ?? '';
    });
  }
}

async function addressOf(clients: UserClients, name: string): Promise<string> {
  const reading = clients.core.readNode({ name });
  const { status } = await answered(clients, `read the node ${name}`, reading);
  return status?.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? '';
}

/** When the API first says so. Throws `CUT_NODE` after `timeoutMs`. */
export function nodeIs(
  { clients, plan, signal }: NodeContext,
  ready: boolean,
  timeoutMs: number,
): Promise<number> {
  const [name] = plan.nodes;
  const what = `${name} is ${ready ? 'not Ready again' : 'Ready still'}`;
  const late = (): Error =>
    refusal('CUT_NODE', `${what} after ${timeoutMs / 1000} s`, {
      hint: ready
        ? 'its kubelet does not run, or does not reach the API: look at the console of the node'
        : 'the kubelet still reaches the API, or the cluster waits longer for a silent node',
      ...{ at: clients, look: `describe node ${name}` },
    });
  return poll({ timeoutMs, signal, late }, async () => {
    const node = await clients.core.readNode({ name }).catch(() => undefined);
    return node !== undefined && isReady(node.status) === ready ? nowMs() : '';
  });
}
