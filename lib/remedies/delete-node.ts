/**
 * `kubectl delete node`: its pods are orphans, which the pod GC removes after a quarantine of 40 s.
 * A kubelet makes its Node object only when it starts, so that the undo restarts it.
 */
import type { RemedyOf } from './remedy.ts';

export const deleteNode: RemedyOf<'delete-node'> = {
  name: 'delete-node',
  async apply({ testbed, victim }) {
    await testbed.kubernetes.deleteNode(victim.node);
    return undefined;
  },
  async undo({ testbed, victim }) {
    const machine = testbed.machine(victim.node);
    if (await testbed.kubernetes.hasNode(victim.node)) return;
    // One that is down registers itself when it boots.
    if ((await machine.state()) === 'running') await machine.restartKubelet();
  },
};
