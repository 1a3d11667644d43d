/** Which image the pods run: the official one of Node, or ours where the cluster's nodes have it. */
import type { V1Node } from '@kubernetes/client-node';
import { planImages, publishedRuntime } from '../../kind/index.ts';
import { kubernetesDefault, type UserClients } from '../../core/index.ts';

/** `built`: the driver's image, which is on the nodes of each kind cluster made here. */
export type ImageChoice = 'auto' | 'published' | 'built';

export async function imageFor({ core }: UserClients, choice: ImageChoice): Promise<string> {
  if (choice === 'published') return publishedRuntime;
  const { images } = planImages({ source: 'built', kubernetes: kubernetesDefault });
  if (choice === 'built') return images.driver;
  const nodes = await core.listNode().catch(() => undefined);
  return nodes && haveImage(nodes.items, images.driver) ? images.driver : publishedRuntime;
}

/** Whether every node tells that it has it. A node's list names the registry too. */
export const haveImage = (nodes: readonly V1Node[], image: string): boolean =>
  nodes.length > 0 &&
  nodes.every(({ status }) =>
    status?.images?.some(({ names }) => names?.some((name) => name.endsWith(`/${image}`))),
  );
