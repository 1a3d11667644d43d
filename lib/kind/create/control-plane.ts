/** The control plane's components on kind: processes of the control plane's node. */
import type { Component, ComponentLook, ControlPlane } from '../../run/index.ts';
import { resumeAgents, stallAgents } from '../nodes/acts.ts';
import * as engine from '../engine/commands.ts';
import { containerShell } from '../engine/container-shell.ts';
import { run } from '../engine/run.ts';
import { waitFor } from '../../core/index.ts';

const programs: Readonly<Record<Exclude<Component, 'control-plane'>, string>> = {
  'controller-manager': 'kube-controller-manager',
  'api-server': 'kube-apiserver',
  attacher: 'csi-attacher',
};

async function lookAtNode(node: string): Promise<ComponentLook> {
  const [process = '', status] = (
    await run(engine.inspect('container', [node], '{{.State.Pid}} {{.State.Status}}'))
  ).split(' ');
  return {
    process: ['', '0'].includes(process) ? undefined : process,
    stalled: status === 'paused',
  };
}

/** A paused container keeps its processes, its memory and its ports. */
async function hold(node: string): Promise<void> {
  if (!(await lookAtNode(node)).stalled) await run(engine.pause(node));
}

async function release(node: string): Promise<void> {
  if ((await lookAtNode(node)).stalled) await run(engine.unpause(node));
}

/** One node has all of the control plane, so that no standby is there. */
export function kindControlPlane(node: string): Omit<Required<ControlPlane>, 'failOver'> {
  const shell = containerShell(node);
  /** `$1` is the program; no error where it does not run. */
  const inNode = (act: string, component: keyof typeof programs): Promise<string> => {
    return shell.sh(`for pid in $(pidof "$1"); do ${act}; done`, programs[component]);
  };
  return {
    async kill() {
      await inNode('kill -KILL "$pid"', 'controller-manager');
    },

    async stall(component) {
      if (component === 'control-plane') return hold(node);
      // Its kubelet would end what answers no probe, and start another one.
      if (component !== 'attacher') await stallAgents(shell, 'kubelet');
      await inNode('kill -STOP "$pid"', component);
    },

    async resume(component) {
      if (component === 'control-plane') return release(node);
      await inNode('kill -CONT "$pid"', component);
      if (component !== 'attacher') await resumeAgents(shell);
    },

    async look(component) {
      if (component === 'control-plane') return lookAtNode(node);
      const said = await inNode('cut -d " " -f 1,3 "/proc/$pid/stat"', component);
      const [process = '', state] = (said.split('\n')[0] ?? '').split(' ');
      return { process: process === '' ? undefined : process, stalled: state === 'T' };
    },
  };
}

const etc = '/etc/kubernetes';
/** Kubelet runs what lies in this folder. */
const place = `${etc}/manifests/kube-controller-manager.yaml`;
const aside = `${etc}/kube-controller-manager.yaml`;

const move = (node: string, from: string, to: string): Promise<string> =>
  containerShell(node).sh(`if [ -e ${from} ]; then mv ${from} ${to}; fi`);

/** Stops it as an operator would. Resolves once it is gone. Idempotent. */
export async function stopControllerManager(node: string): Promise<void> {
  await move(node, place, aside);
  await controllerManagerIs(node, 'gone');
}

/** Resolves once there is one again; it leads some seconds later. Idempotent. */
export async function startControllerManager(node: string): Promise<void> {
  await move(node, aside, place);
  await controllerManagerIs(node, 'there');
}

async function controllerManagerIs(node: string, where: 'gone' | 'there'): Promise<void> {
  const what = `the controller manager is ${where}`;
  await waitFor({ what, timeoutMs: 60_000 }, async () => {
    const { process } = await kindControlPlane(node).look('controller-manager');
    return (process === undefined) === (where === 'gone') || `its process: ${process ?? 'none'}`;
  });
}

/** Whatever a fault left standing still, or a procedure took away, goes on; idempotent. */
export async function mendControlPlane(node: string): Promise<void> {
  const controlPlane = kindControlPlane(node);
  for (const component of [
    'control-plane',
    'api-server',
    'controller-manager',
    'attacher',
  ] as const)
    await controlPlane.resume(component);
  await move(node, aside, place);
}
