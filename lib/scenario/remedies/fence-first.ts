/**
 * The advice of storage vendors: the node's paths to the volume are cut at the backend, the backend confirms
 * it, and only then the node is tainted out-of-service. A fence is for ever: only the taint is taken back.
 */
import { remedyKind } from './kind.ts';

export const fenceFirst = remedyKind({
  name: 'fence-first',
  on: 'path',
  acts: ['cut paths', 'taint out-of-service'],
  undo: 'untaint',
  taints: true,
  needs: ['fence', 'node-taint'],
  words: 'the old node is cut off from its storage before the out-of-service taint',
  does: 'the node’s paths are cut at the backend, that is verified, and only then the node is tainted out-of-service',
});
