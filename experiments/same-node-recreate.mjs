/** How long does a pod take that is deleted and comes back to the same node, and is its data safe? */
import { experiment } from '../lib/cli/start.mjs';

export default await experiment({
  name: 'same-node-recreate',
  question: 'A pod is deleted again and again, and comes back to its node: when is it Ready?',
  fault: { kind: 'none', recreations: 12 },
  also: { kind: 'attacher-down', at: '30s', for: '1m' },
});
