/**
 * Whoever makes machines takes one away and puts a new one in its place: the instance ends first, and its Node is
 * deleted once the cloud has confirmed that. At the heal its kubelet makes the object when it boots.
 */
import { remedyKind } from './kind.ts';

export const deleteMachine = remedyKind({
  name: 'delete-machine',
  on: 'node',
  acts: ['power off', 'delete node'],
  endsMachine: true,
  removesPodObject: true,
  needs: ['node-power', 'power-loss', 'node-deletion'],
  words: 'the old machine is switched off and its Node object deleted',
  does: 'the node’s machine is switched off, and only then its Node object is deleted; at the heal it is switched on',
});
