/**
 * The storage backend: attaches volumes to nodes, detaches them and cuts paths. The controller
 * service asks it on behalf of Kubernetes, the lab on behalf of a fault.
 *
 * A cut is in the record before any device is touched, and a node that stages looks into the record
 * after it made its device: whichever comes second sees the other, so no path slips through.
 */
import { status } from '@grpc/grpc-js';
import { CallError } from './grpc.ts';
import { imagePath, type Layout } from './layout.ts';
import { bytesWritten, cutDevice, devicePath, isCut, serves } from './loop-device.ts';
import { freeLoop, type LoopRange } from './loop-range.ts';
import {
  attach,
  type Attachment,
  cut,
  type DetachMode,
  detach,
  heldBy,
  heldElsewhere,
  ownersOf,
  type VolumeRecord,
} from './record.ts';
import { locked, readRecord, readRecords, writeRecord } from './record-store.ts';

export interface Target {
  readonly volume: string;
  readonly node: string;
}

/** The node's attachment: the one it holds, or a new one. */
export function attachVolume(
  layout: Layout,
  loops: LoopRange,
  { volume, node, mode }: Target & { readonly mode: DetachMode },
): Promise<Attachment> {
  return locked(layout, async () => {
    const records = await readRecords(layout);
    const record = records.get(volume);
    if (record === undefined) {
      throw new CallError(status.NOT_FOUND, `there is no volume ${volume}`);
    }
    const elsewhere = heldElsewhere(record, node);
    if (elsewhere !== undefined) {
      throw new CallError(status.FAILED_PRECONDITION, `${volume} is attached to ${elsewhere.node}`);
    }
    const held = heldBy(record, node);
    if (held !== undefined) return held;
    const loop = await freeLoop(loops, record.nextGeneration, records.values());
    if (loop === undefined) {
      throw new CallError(status.RESOURCE_EXHAUSTED, 'all loop devices of this cluster are in use');
    }
    const attached = attach(record, { node, mode, loop, wallMs: Date.now() });
    await writeRecord(layout, volume, attached);
    return needed(heldBy(attached, node));
  });
}

/** Takes the volume from the node, as the volume's detach mode says. Idempotent. */
export async function detachVolume(layout: Layout, target: Target): Promise<CutDevice[]> {
  const { volume, node } = target;
  const record = await readRecord(layout, volume);
  if (record === undefined || heldBy(record, node) === undefined) return [];
  const devices = record.mode === 'fenced' ? await cutPaths(layout, target, 'fence') : [];
  await update(layout, volume, (now) => detach(now, node, Date.now()));
  return devices;
}

export interface CutDevice {
  readonly device: string;
  readonly generation: number;
  /** Bytes the node had written through it when it was cut. */
  readonly bytesWritten: number;
}

/** Cuts every path of the node to the volume. Safe to repeat after a death half-way. */
export async function cutPaths(
  layout: Layout,
  { volume, node }: Target,
  cutFor: 'fence' | 'crash',
): Promise<CutDevice[]> {
  const record = await update(layout, volume, (now) => cut(now, node, cutFor, Date.now()));
  const devices: CutDevice[] = [];
  for (const { loop, generation } of await boundAttachments(layout, volume, record)) {
    if (needed(ownersOf(record).get(loop)).node !== node) continue;
    if (!(await cutUnlessGone(loop, imagePath(layout, volume)))) continue;
    const written = (await bytesWritten(loop)) ?? 0;
    devices.push({ device: devicePath(loop), generation, bytesWritten: written });
  }
  return devices;
}

/** False where the node gave the device back meanwhile: a stage that met the cut in the record. */
async function cutUnlessGone(loop: number, file: string): Promise<boolean> {
  try {
    if (!(await isCut(loop))) await cutDevice(loop);
    return true;
  } catch (error) {
    if (await serves(loop, file)) throw error;
    return false;
  }
}

/** The volume's attachments whose devices exist now, whatever the record says of their state. */
export async function boundAttachments(
  layout: Layout,
  volume: string,
  record: VolumeRecord,
): Promise<Attachment[]> {
  const file = imagePath(layout, volume);
  const bound: Attachment[] = [];
  for (const [loop, attachment] of ownersOf(record)) {
    if (await serves(loop, file)) bound.push(attachment);
  }
  return bound;
}

/** Bytes written so far through each device of the volume, keyed `node/generation`. */
export async function writtenSoFar(
  layout: Layout,
  volume: string,
): Promise<Readonly<Record<string, number>>> {
  const record = await readRecord(layout, volume);
  if (record === undefined) return {};
  const written: Record<string, number> = {};
  for (const { node, generation, loop } of await boundAttachments(layout, volume, record)) {
    written[`${node}/${generation}`] = (await bytesWritten(loop)) ?? 0;
  }
  return written;
}

/** Changes one volume's record under the lock. */
export function update(
  layout: Layout,
  volume: string,
  change: (record: VolumeRecord) => VolumeRecord,
): Promise<VolumeRecord> {
  return locked(layout, async () => {
    const record = await readRecord(layout, volume);
    if (record === undefined) {
      throw new CallError(status.NOT_FOUND, `there is no volume ${volume}`);
    }
    const changed = change(record);
    await writeRecord(layout, volume, changed);
    return changed;
  });
}

function needed<T>(value: T | undefined): T {
  if (value === undefined) throw new CallError(status.INTERNAL, 'the record contradicts itself');
  return value;
}
