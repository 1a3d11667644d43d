/** How the model's API objects look to observers. */
import { observed } from '../../history/observations.ts';
import {
  volumeName,
  type AttachmentObject,
  type NodeObject,
  type PodObject,
  type Taint,
} from './api-objects.ts';
import type { Sighting } from './api-watchers.ts';

export const readySighting = ({ name, ready }: NodeObject): Sighting => ({
  source: 'api',
  name: observed.nodeReady,
  node: name,
  data: { status: ready, reason: ready === 'True' ? 'KubeletReady' : 'NodeStatusUnknown' },
});

export const nodeGoneSighting = ({ name }: NodeObject): Sighting => ({
  source: 'api',
  name: observed.nodeGone,
  node: name,
  data: {},
});

export const taintTexts = (taints: readonly Taint[]): string[] =>
  taints.map(({ key, effect }) => `${key}:${effect}`).toSorted();

export const taintSighting = ({ name, taints }: NodeObject): Sighting => ({
  source: 'api',
  name: observed.nodeTaints,
  node: name,
  data: { taints: taintTexts(taints) },
});

export const listSighting = (
  name: Sighting['name'],
  { name: node }: NodeObject,
  volumes: ReadonlySet<number>,
): Sighting => ({ source: 'api', name, node, data: { volumes: [...volumes].map(volumeName) } });

export function podSighting(
  { name: pod, uid, node, workload: volume }: PodObject,
  name: Sighting['name'],
  more: Readonly<Record<string, unknown>> = {},
): Sighting {
  const where = node === undefined ? {} : { node: node.name };
  return { source: 'api', name, ...where, volume, data: { pod, uid, ...more } };
}

export const attachmentSighting = (
  name: Sighting['name'],
  { name: attachment, node, volume }: AttachmentObject,
): Sighting => ({
  ...{ source: 'api', name, node: node.name, volume },
  data: { attachment, volume: volumeName(volume) },
});

interface ApiObjects {
  readonly nodes: readonly NodeObject[];
  readonly pods: ReadonlySet<PodObject>;
  readonly attachments: readonly AttachmentObject[];
}

/** Shows everything as it stands, as a watch does when it begins. */
export function showAll(api: ApiObjects, see: (sighting: Sighting) => void): void {
  for (const node of api.nodes) {
    see(readySighting(node));
    see(taintSighting(node));
    see(listSighting(observed.volumesAttached, node, node.attached));
    see(listSighting(observed.volumesInUse, node, node.inUse));
  }
  for (const pod of api.pods) {
    const { phase, ip, ready } = pod;
    see(podSighting(pod, observed.podCreated));
    if (pod.node !== undefined) see(podSighting(pod, observed.podScheduled));
    see(podSighting(pod, observed.podPhase, { phase }));
    if (ip !== undefined) see(podSighting(pod, observed.podRunning, { ip }));
    see(podSighting(pod, observed.podReady, { ready }));
  }
  for (const attachment of api.attachments) {
    see(attachmentSighting(observed.attachmentCreated, attachment));
    if (attachment.attached) see(attachmentSighting(observed.attachmentAttached, attachment));
  }
}
