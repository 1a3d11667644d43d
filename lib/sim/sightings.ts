/** How what happens in the model looks to observers. */
import type { Database } from '../run/index.ts';
import { observed, type ObservedName } from '../history/index.ts';
import {
  volumeName,
  type AttachmentObject,
  type NodeObject,
  type PodObject,
} from './api-objects.ts';
import type { Path } from './disk/path.ts';
import type { Volume } from './disk/volume.ts';
import type { Kernel } from './kernel.ts';
import type { Notify } from './notices.ts';
import { msUs } from './timings.ts';

export interface Sighting {
  /** Name in lib/history/observations.ts; a server's log by its program. */
  readonly source: string;
  readonly name: ObservedName;
  readonly node?: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** Number of the volume that it is of. Default: it is of the cluster or a node. */
  readonly volume?: number;
  /** Default: now. */
  readonly atUs?: number;
}
type Data = Sighting['data'];

/** Who is to see what happens. */
export interface Lookout {
  readonly kernel: Kernel;
  /** Shows observers in words. Write `world.see?.(…)`: without an observer nothing is made up. */
  readonly see: ((sighting: Sighting) => void) | undefined;
  /** Shows every step in integers. */
  readonly notice: Notify;
  /** Its name is the application's in those of pods and volumes. */
  readonly database: Database;
}

/** Whose database it is. */
type Of = Pick<Lookout, 'database'>;

interface ApiObjects {
  readonly nodes: readonly NodeObject[];
  readonly pods: ReadonlySet<PodObject>;
  readonly attachments: readonly AttachmentObject[];
}

/** The lists of a node name all volumes. */
const nodeData = {
  [observed.nodeReady]: ({ ready }) => ({
    status: ready,
    reason: ready === 'True' ? 'KubeletReady' : 'NodeStatusUnknown',
  }),
  [observed.nodeTaints]: ({ taints }) => ({
    taints: taints.map(({ key, effect }) => `${key}:${effect}`).toSorted(),
  }),
  [observed.volumesAttached]: ({ attached }, of) => ({ volumes: namesOf(attached, of) }),
  [observed.volumesInUse]: ({ inUse }, of) => ({ volumes: namesOf(inUse, of) }),
  [observed.nodeGone]: () => ({}),
} as const satisfies Readonly<Record<string, (node: NodeObject, of: Of) => Data>>;

const namesOf = (volumes: ReadonlySet<number>, { database }: Of): string[] =>
  [...volumes].map((volume) => volumeName(database.name, volume));

export const ofNode = (of: Of, name: keyof typeof nodeData, node: NodeObject): Sighting => ({
  ...{ source: 'api', name, node: node.name },
  data: nodeData[name](node, of),
});

export const ofPod = (
  { name: pod, uid, node, workload: volume }: PodObject,
  name: ObservedName,
  more: Data = {},
): Sighting => ({
  ...{ source: 'api', name, ...(node === undefined ? {} : { node: node.name }), volume },
  data: { pod, uid, ...more },
});

export const ofAttachment = (
  { database }: Of,
  { name: attachment, node, volume }: AttachmentObject,
  name: ObservedName,
): Sighting => ({
  ...{ source: 'api', name, node: node.name, volume },
  data: { attachment, volume: volumeName(database.name, volume) },
});

/** Everything as it stands, as a watch shows it when it begins. */
export function* standing(of: Of, { nodes, pods, attachments }: ApiObjects): Generator<Sighting> {
  const { nodeReady, nodeTaints, volumesAttached, volumesInUse } = observed;
  for (const node of nodes)
    for (const name of [nodeReady, nodeTaints, volumesAttached, volumesInUse])
      yield ofNode(of, name, node);
  for (const pod of pods) {
    const { phase, ip, ready } = pod;
    yield ofPod(pod, observed.podCreated);
    if (pod.node !== undefined) yield ofPod(pod, observed.podScheduled);
    yield ofPod(pod, observed.podPhase, { phase });
    if (ip !== undefined) yield ofPod(pod, observed.podRunning, { ip });
    yield ofPod(pod, observed.podReady, { ready });
  }
  for (const attachment of attachments) {
    yield ofAttachment(of, attachment, observed.attachmentCreated);
    if (attachment.attached) yield ofAttachment(of, attachment, observed.attachmentAttached);
  }
}

/** A CSI call that has just ended; like the driver's own log it is dated when it came in. */
export function seeCall(
  { see, kernel, database }: Lookout,
  volume: number,
  call: string,
  node: string,
  beganAtUs: number,
  more: Data = {},
): void {
  if (see === undefined) return;
  // Of whole microseconds, as a history dates what it holds: else a call seems to end before its effects.
  const durationMs = (Math.round(kernel.nowUs) - Math.round(beganAtUs)) / msUs;
  const data = { call, volume: volumeName(database.name, volume), durationMs, ...more };
  see({ source: 'csi', name: observed.csiCall, node, volume, data, atUs: beganAtUs });
}

/** Bytes written through each path so far. */
export function seeWritten({ see }: Lookout, { paths, index: volume }: Volume): void {
  if (see === undefined) return;
  for (const { node, device, generation, bytesWritten } of paths) {
    const data = { device, generation, bytesWritten };
    see({ source: 'devices', name: observed.deviceWritten, node, volume, data });
  }
}

export const cutOf = (volume: number, { node, device, generation }: Path): Sighting => ({
  ...{ source: 'devices', name: observed.deviceCut, node, volume },
  data: { device, generation },
});

export const mountOf = (
  name: typeof observed.mounted | typeof observed.unmounted,
  volume: number,
  { node, device }: Path,
): Sighting => ({ source: 'mounts', name, node, volume, data: { device } });

/** What a sidecar writes to its log (lib/run/self-fence/main.ts). */
export const selfFenceOf = (node: string, volume: number, text: string): Sighting => ({
  ...{ source: 'self-fence', name: observed.selfFence, node, volume },
  data: { line: `self-fence: ${text}` },
});

export const logOf = (
  { database }: Of,
  node: string,
  volume: number,
  level: 'Note' | 'System' | 'ERROR',
  text: string,
): Sighting => ({
  ...{ source: database.server, name: observed.serverLog, node, volume },
  data: { line: `[${level}] ${text}`, level },
});

/** What a server's log says when it is up. */
export const upOf = (of: Of, node: string, volume: number): Sighting =>
  logOf(of, node, volume, 'Note', of.database.log.signs.ready);
