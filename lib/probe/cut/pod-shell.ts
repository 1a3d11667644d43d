/**
 * A node that only its API leads to: each command is a privileged pod that enters the namespaces of the
 * node's own first process, and ends. So it needs the node's network and its kubelet.
 */
import {
  type Ended,
  type NodeRunOptions,
  type NodeShell,
  type Sent,
  shBy,
  type ShellWith,
} from '../../cluster/node-shell.ts';
import { containerName } from '../trials/objects.ts';
import { createPod, type PodsContext } from '../trials/volume-pods.ts';
import { mustStart, unstartable } from '../trials/view.ts';
import { armingScript } from './arming-script.ts';
import { hostPod } from './objects.ts';

export interface PodShellContext extends PodsContext {
  readonly namespace: string;
  readonly plan: { readonly nodes: readonly [string, string]; readonly image: string };
}

/** What is armed goes on whatever becomes of the pod. It can neither hold its node nor end it. */
export type PodShell = ShellWith<'arm'>;

/** Time that a short-lived pod has, from its creation to its end. */
export const hostPodMs = 120_000;

/** Shell of the first node. `name`: its pod's; a second command's ends with `-2`. */
export function podShell(context: PodShellContext, name: string): PodShell {
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
  context: PodShellContext,
  name: string,
  { signal, timeoutMs = hostPodMs }: NodeRunOptions = {},
): Promise<Ended> {
  const { clients, namespace, plan, view } = context;
  const what = `the pod ${name} has ended on ${plan.nodes[0]}`;
  const { exitCode } = await view.until({ what, timeoutMs }, () => {
    signal?.throwIfAborted();
    const pod = view.pod(name)?.pod;
    const { phase } = pod?.status ?? {};
    // To end is what it is for.
    mustStart(name, pod, unstartable);
    if (phase === 'Succeeded') return { exitCode: 0 };
    const { terminated } = pod?.status?.containerStatuses?.[0]?.state ?? {};
    // One that was evicted may have ended well, or never begun.
    if (phase === 'Failed') return { exitCode: terminated?.exitCode || -1 };
    return toldOf(context, name);
  });
  const logged = { name, namespace, container: containerName };
  const said = await clients.core.readNamespacedPodLog(logged);
  return { exitCode, stdout: said.trimEnd(), stderr: '' };
}

/** Words for a pod that has not come to it yet. */
export function toldOf({ view }: Pick<PodsContext, 'view'>, name: string): string {
  const last = view.eventsOf(name).at(-1);
  const event = last === undefined ? 'no event yet' : `${last.reason}: ${last.message}`;
  return `it is ${view.pod(name)?.pod.status?.phase ?? 'not there'}, ${event}`;
}
