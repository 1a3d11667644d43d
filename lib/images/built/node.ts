/** The node image: base, Kubernetes' programs, and the images that every cluster needs. */
import { definePart, type Part } from '../part.ts';

const recipe = 'lib/images/built/node/assemble';

export interface NodeContents {
  readonly base: Part;
  readonly kubernetes: Part;
  readonly pause: Part;
  /** Images put into each node's containerd beside the control plane's. */
  readonly preloaded: readonly Part[];
}

export function nodePart(root: string, version: string, contents: NodeContents): Part {
  const { base, kubernetes, pause, preloaded } = contents;
  const needs = [base, kubernetes, pause, ...preloaded];
  const inputs = { files: [`${root}/${recipe}`], settings: [version], needs };
  return definePart('node', inputs, (key, ref) => [
    [recipe, ref, version, key, ...needs.map((part) => part.ref)].join(' '),
  ]);
}
