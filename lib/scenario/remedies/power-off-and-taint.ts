/**
 * A fence agent: the machine is switched off by its management board or its cloud, that is confirmed, and only then
 * it is tainted. What is off writes nothing, whatever Kubernetes took it for.
 */
import { remedyKind } from './kind.ts';

export const powerOffAndTaint = remedyKind({
  name: 'power-off-and-taint',
  on: 'node',
  acts: ['power off', 'taint out-of-service'],
  undo: 'untaint',
  endsMachine: true,
  taints: true,
  removesPodObject: true,
  needs: ['node-power', 'power-loss', 'node-taint'],
  words: 'the old node is switched off before the out-of-service taint',
  does: 'the node’s machine is switched off, and only then it is tainted out-of-service; at the heal it is switched on',
});
