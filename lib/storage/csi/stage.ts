/** Staging: opens the node's path to a volume and mounts it, or its device, once per node. */
import { mkdir } from 'node:fs/promises';
import { status } from '@grpc/grpc-js';
import { describeError } from '../../core/index.ts';
import { fileSystemOf, isBlock, needed, neededCapability, neededVolume } from './check-request.ts';
import { contextKeys } from './controller.ts';
import { formatAndMount, type Mounted } from './format-and-mount.ts';
import type { NodeStageVolumeRequest, VolumeCapability } from './gen/csi_pb.js';
import { CallError, type CallNotes } from './grpc.ts';
import { devicePath } from './loop-device.ts';
import { deviceIn, isRaw, stageDevice, stagedAt } from './mounts.ts';
import { decideStage } from './modes.ts';
import { closeUnused, openPath, type StorageBackend, writtenSoFar } from './paths.ts';
import { type Attachment, heldBy, publishedName, type VolumeRecord } from './record.ts';
import { neededRecord } from './record-store.ts';
import type { VolumeAttributes } from './volume-attributes.ts';

export interface NodeOptions {
  readonly backend: StorageBackend;
  /** This node's name, which is its CSI node id too. */
  readonly node: string;
}

/** Idempotent. Where it fails, the path that it opened is closed again. */
export async function stage(
  { backend, node }: NodeOptions,
  request: NodeStageVolumeRequest,
  notes: CallNotes,
): Promise<void> {
  const volume = neededVolume(request.volumeId);
  const folder = needed('staging_target_path', request.stagingTargetPath);
  const capability = neededCapability(request.volumeCapability);
  const published = publishedIn(request);
  const readNow = async (): Promise<Attached> =>
    neededAttached(await neededRecord(backend.layout, volume), { volume, node, published });
  const { attachment, attributes } = await readNow();
  const { generation } = attachment;
  const device = devicePath(attachment.loop);
  Object.assign(notes, { generation, device, detachMode: attributes.detachMode });

  const staged = await stagedAt(folder);
  const isAsAsked = staged !== undefined && isRaw(staged) === isBlock(capability);
  if (isAsAsked && deviceIn(staged) === device) return;
  if (staged !== undefined) {
    throw new CallError(status.ALREADY_EXISTS, `${folder} has ${staged.device} mounted`);
  }
  // What earlier attachments of this node left open and nobody has mounted.
  notes['freed'] = await closeUnused(backend, { volume, node }, generation);
  await decideStage({ backend, volume, node, attributes, notes });
  await openPath(backend, volume, attachment, attributes);
  try {
    // Asked again: a cut from now on finds the path, an earlier one is in the record (paths.ts).
    const again = await readNow();
    if (again.attachment.generation !== generation) {
      throw notAttached(volume, published, again.attachment);
    }
    notes['writtenBefore'] = await writtenSoFar(backend.array, volume);
    if (isBlock(capability)) await stageDevice(device, folder);
    else Object.assign(notes, await mountDevice(device, folder, capability, attributes));
  } catch (error) {
    await backend.array.close({ volume, generation }).catch((closing: unknown) => {
      notes['leftOpen'] = describeError(closing);
    });
    throw error;
  }
}

async function mountDevice(
  device: string,
  mountPoint: string,
  capability: VolumeCapability,
  { mkfs }: VolumeAttributes,
): Promise<Mounted> {
  await mkdir(mountPoint, { recursive: true });
  return formatAndMount({
    ...{ device, mountPoint, fsType: fileSystemOf(capability) },
    multipleMountProtection: mkfs === 'mmp',
    options: mountFlagsOf(capability),
  });
}

export const mountFlagsOf = ({ accessType }: VolumeCapability): readonly string[] =>
  accessType.case === 'mount' ? accessType.value.mountFlags : [];

/** The number by which Kubernetes knows the attachment. */
function publishedIn({ publishContext }: NodeStageVolumeRequest): number {
  const value = publishContext[contextKeys.generation];
  if (value !== undefined && /^\d+$/.test(value)) return Number(value);
  const why = `publish_context has no ${contextKeys.generation}`;
  throw new CallError(status.INVALID_ARGUMENT, why);
}

interface Attached {
  readonly attachment: Attachment;
  readonly attributes: VolumeAttributes;
}

/** Throws unless the backend lets this node use this attachment now. */
function neededAttached(
  record: VolumeRecord,
  asked: { readonly volume: string; readonly node: string; readonly published: number },
): Attached {
  const attachment = heldBy(record, asked.node);
  const isMeant =
    attachment?.state === 'attached' &&
    [publishedName(attachment), attachment.generation].includes(asked.published);
  if (!isMeant) throw notAttached(asked.volume, asked.published, attachment);
  return { attachment, attributes: record.attributes };
}

function notAttached(volume: string, published: number, held: Attachment | undefined): CallError {
  const instead =
    held === undefined ? 'nothing is' : `generation ${held.generation} is ${held.state}`;
  const why = `generation ${published} of ${volume} is not attached here: ${instead}`;
  return new CallError(status.FAILED_PRECONDITION, why);
}
