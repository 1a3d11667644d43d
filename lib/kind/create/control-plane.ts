/** The control plane's components on kind: processes of the control plane's node. */
import type { Component, ControlPlane } from '../../run/index.ts';
import { resumeAgents, stallAgents } from '../nodes/acts.ts';
import { containerShell } from '../engine/container-shell.ts';
import { waitFor } from '../../core/index.ts';

const programs: Readonly<Record<Component, string>> = {
  'controller-manager': 'kube-controller-manager',
  'api-server': 'kube-apiserver',
  attacher: 'csi-attacher',
};

export function kindControlPlane(node: string): Required<ControlPlane> {
  const shell = containerShell(node);
  /** `$1` is the program; no error where it does not run. */
  const inNode = (act: string, component: Component): Promise<string> => {
    return shell.sh(`for pid in $(pidof "$1"); do ${act}; done`, programs[component]);
  };
  return {
    async kill(component) {
      await inNode('kill -KILL "$pid"', component);
    },

    async stall(component) {
      // Its kubelet would end an API server that answers no probe, and start another one.
      if (component === 'api-server') await stallAgents(shell, 'kubelet');
      await inNode('kill -STOP "$pid"', component);
    },

    async resume(component) {
      await inNode('kill -CONT "$pid"', component);
      if (component === 'api-server') await resumeAgents(shell);
    },

    async look(component) {
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
  for (const component of ['api-server', 'attacher'] as const) await controlPlane.resume(component);
  await move(node, aside, place);
}
