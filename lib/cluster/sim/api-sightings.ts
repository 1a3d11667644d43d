/** How the model's API objects look to observers. */
import { observed } from '../../history/observations.ts';
import {
  volumeName,
  type AttachmentObject,
  type NodeObject,
  type PodObject,
  type Taint,
} from './api-objects.ts';
import type { Sighting } from './world.ts';

export const readySighting = ({ name, ready }: NodeObject): Sighting => ({
  source: 'api',
  name: observed.nodeReady,
  node: name,
  data: { status: ready, reason: ready === 'True' ? 'KubeletReady' : 'NodeStatusUnknown' },
});

export const taintTexts = (taints: readonly Taint[]): string[] =>
  taints.map(({ key, effect }) => `${key}:${effect}`).toSorted();

export const taintSighting = ({ name, taints }: NodeObject): Sighting => ({
  source: 'api',
  name: observed.nodeTaints,
  node: name,
  data: { taints: taintTexts(taints) },
});

export const listSighting = (name: Sighting['name'], node: string, listed: boolean): Sighting => ({
  source: 'api',
  name,
  node,
  data: { volumes: listed ? [volumeName] : [] },
});

export function podSighting(
  { name: pod, uid, node }: PodObject,
  name: Sighting['name'],
  more: Readonly<Record<string, unknown>> = {},
): Sighting {
  const where = node === undefined ? {} : { node };
  return { source: 'api', name, ...where, data: { pod, uid, ...more } };
}

export const attachmentSighting = (
  name: Sighting['name'],
  { name: attachment, node }: AttachmentObject,
): Sighting => ({ source: 'api', name, node, data: { attachment, volume: volumeName } });
