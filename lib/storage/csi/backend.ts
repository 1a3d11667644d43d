/** Attaches volumes to nodes and detaches them, on behalf of Kubernetes. */
import { status } from '@grpc/grpc-js';
import { CallError, type CallNotes } from './grpc.ts';
import { isBound, type LoopRange, numbersIn } from './loop-device.ts';
import { decideAttach, decideDetach, type NodeTaints } from './modes.ts';
import { type StorageBackend, type CutDevice, livePaths, type Target } from './paths.ts';
import {
  attach,
  type Attachment,
  detach,
  heldBy,
  heldElsewhere,
  isHeld,
  stillHeld,
} from './record.ts';
import {
  locked,
  neededRecord,
  readRecord,
  readRecords,
  updateRecord,
  writeRecord,
} from './record-store.ts';
import type { VolumeAttributes } from './volume-attributes.ts';

export interface AttachRequest extends Target {
  readonly attributes: VolumeAttributes;
  /** The volume was declared for several nodes at once. */
  readonly manyNodes: boolean;
  readonly notes: CallNotes;
}

/** The node's attachment: the one it holds, or a new one. */
export function attachVolume(
  backend: StorageBackend,
  loops: LoopRange,
  request: AttachRequest,
): Promise<Attachment> {
  const { layout } = backend;
  const { volume, node, attributes } = request;
  return locked(layout, async () => {
    const record = await neededRecord(layout, volume);
    const elsewhere = heldElsewhere(record, node);
    const mayShare = request.manyNodes || attributes.attachWhileBusy === 'granted';
    if (elsewhere !== undefined && !mayShare) {
      throw new CallError(status.FAILED_PRECONDITION, `${volume} is attached to ${elsewhere.node}`);
    }
    const held = heldBy(record, node);
    if (held !== undefined) return held;
    await decideAttach({ ...request, backend });
    const loop = await loopFor(backend, loops, record.nextGeneration);
    const attached = attach(record, { node, attributes, loop, wallMs: Date.now() });
    await writeRecord(layout, volume, attached);
    return neededHeld(heldBy(attached, node));
  });
}

export interface DetachRequest extends Target {
  readonly taints: NodeTaints;
  readonly notes: CallNotes;
}

/** Takes the volume from the node, as the volume's detach mode says. Idempotent. */
export async function detachVolume(
  backend: StorageBackend,
  request: DetachRequest,
): Promise<readonly CutDevice[]> {
  const { volume, node } = request;
  const record = await readRecord(backend.layout, volume);
  const attachment = record === undefined ? undefined : heldBy(record, node);
  if (record === undefined || attachment === undefined) return [];
  const { attributes } = record;
  const devices = await decideDetach({ ...request, backend, attributes, attachment });
  await updateRecord(backend.layout, volume, (now) =>
    stillHeld(now, attachment) === undefined ? now : detach(now, node, Date.now()),
  );
  return devices;
}

/**
 * A loop number that serves nobody, by any record, the array or the kernel. Each generation begins one
 * further, so that numbers rarely repeat. For lock holders.
 */
export async function loopFor(
  { layout, array }: StorageBackend,
  loops: LoopRange,
  generation: number,
): Promise<number> {
  const records = [...(await readRecords(layout)).values()];
  const held = records.flatMap(({ attachments }) => attachments.filter(isHeld));
  const taken = new Set([...held, ...(await livePaths(array))].map(({ loop }) => loop));
  const numbers = numbersIn(loops);
  const start = (generation - 1) % numbers.length;
  for (const loop of [...numbers.slice(start), ...numbers.slice(0, start)])
    if (!taken.has(loop) && !(await isBound(loop))) return loop;
  throw new CallError(status.RESOURCE_EXHAUSTED, 'all loop devices of this cluster are in use');
}

function neededHeld(attachment: Attachment | undefined): Attachment {
  if (attachment !== undefined) return attachment;
  throw new CallError(status.INTERNAL, 'the record contradicts itself');
}
