/**
 * The node image: base, Kubernetes' programs, and the images that every cluster needs. A second one
 * has the driver too: what is put into nodes that run costs each cluster, and each node of it, again.
 */
import { definePart, type Part } from '../part.ts';

const recipe = 'lib/images/built/node';
const containerd = `${recipe}/containerd.sh`;

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
  const files = [`${recipe}/assemble`, containerd].map((file) => `${root}/${file}`);
  const inputs = { files, settings: [version], needs };
  return definePart('node', inputs, (key, ref) => [
    [`${recipe}/assemble`, ref, version, key, ...needs.map((part) => part.ref)].join(' '),
  ]);
}

export function nodeWithDriverPart(root: string, node: Part, driver: Part): Part {
  const name = 'node-with-driver';
  const files = [`${recipe}/preload`, containerd].map((file) => `${root}/${file}`);
  return definePart(name, { files, settings: [], needs: [node, driver] }, (key, ref) => [
    [`${recipe}/preload`, ref, name, key, node.ref, driver.ref].join(' '),
  ]);
}
