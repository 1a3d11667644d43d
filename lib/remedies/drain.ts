/** `kubectl drain --timeout`: cordons the node, evicts its pods, and waits for kubelets to confirm. */
import type { RemedyOf } from './remedy.ts';

/** People wait a while before they give up; drain's own default is for ever. */
const timeoutMs = 60_000;

export const drain: RemedyOf<'drain'> = {
  name: 'drain',
  async apply({ testbed, victim }) {
    const { drained, answer } = await testbed.kubernetes.drain(victim.node, timeoutMs);
    return `${drained ? 'drained' : 'not drained'}: ${answer}`;
  },
  undo: ({ testbed, victim }) => testbed.kubernetes.uncordon(victim.node),
};
