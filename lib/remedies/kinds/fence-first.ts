/** The node’s paths are cut at the backend before it is tainted. */
import { remedyKind } from './kind.ts';

export const fenceFirst = remedyKind({
  name: 'fence-first',
  on: 'path',
  taints: true,
  needs: ['fence', 'node-taint'],
  does: 'the node’s paths are cut at the backend, that is verified, and only then the node is tainted out-of-service',
});
