/** `kubectl drain --timeout`: cordons the node, evicts its pods, and waits for kubelets to confirm. */
import { drainMs } from '../experiment/waits.ts';
import type { RemedyOf } from './remedy.ts';

export const drain: RemedyOf<'drain'> = {
  name: 'drain',
  async apply({ testbed, victim }) {
    const { drained, answer } = await testbed.kubernetes.drain(victim.node, drainMs);
    return `${drained ? 'drained' : 'not drained'}: ${answer}`;
  },
  undo: ({ testbed, victim }) => testbed.kubernetes.uncordon(victim.node),
};
