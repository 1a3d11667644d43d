/** Staging: opens the node's path to a volume and mounts it, or its device, once per node. */
import { mkdir } from 'node:fs/promises';
import { status } from '@grpc/grpc-js';
import { describeError } from '../errors.ts';
import { fileSystemOf, isBlock, needed, neededCapability, neededVolume } from './check-request.ts';
import { contextKeys } from './controller.ts';
import { formatAndMount, type Mounted } from './format-and-mount.ts';
import type { NodeStageVolumeRequest, VolumeCapability } from './gen/csi_pb.js';
import { CallError, type CallNotes } from './grpc.ts';
import { devicePath } from './loop-device.ts';
import { isRaw, loopOf, stageDevice, stagedAt } from './mounts.ts';
import { decideStage } from './modes.ts';
import { type StorageBackend, isCodeOf, livePaths, unless, writtenSoFar } from './paths.ts';
import { type Attachment, heldBy, publishedName } from './record.ts';
import { neededRecord } from './record-store.ts';
import type { VolumeAttributes } from './volume-attributes.ts';

export interface NodeOptions {
  readonly backend: StorageBackend;
  /** This node's name, which is its CSI node id too. */
  readonly node: string;
}

interface Staging {
  readonly volume: string;
  readonly mountPoint: string;
  readonly capability: VolumeCapability;
  /** Number by which Kubernetes knows the attachment. */
  readonly published: number;
}

/** Idempotent. Where it fails, the path that it opened is closed again. */
export async function stage(
  options: NodeOptions,
  request: NodeStageVolumeRequest,
  notes: CallNotes,
): Promise<void> {
  const staging: Staging = {
    volume: neededVolume(request.volumeId),
    mountPoint: needed('staging_target_path', request.stagingTargetPath),
    capability: neededCapability(request.volumeCapability),
    published: contextNumber(request, contextKeys.generation),
  };
  const { volume, mountPoint } = staging;
  const { backend, node } = options;
  const { attachment, attributes } = await neededAttached(options, staging);
  const { generation, loop } = attachment;
  Object.assign(notes, { generation, device: devicePath(loop), detachMode: attributes.detachMode });

  const staged = await stagedAt(mountPoint);
  const isAsAsked = staged !== undefined && isRaw(staged) === isBlock(staging.capability);
  if (isAsAsked && loopOf(staged) === loop) return;
  if (staged !== undefined) {
    throw new CallError(status.ALREADY_EXISTS, `${mountPoint} has ${staged.device} mounted`);
  }
  notes['freed'] = await closeLeftovers(options, volume, generation);
  await decideStage({ backend, volume, node, attributes, notes });
  await openPath(options, volume, attachment, attributes);
  try {
    // Asked again: a cut from now on finds the path, an earlier one is in the record (paths.ts).
    const again = await neededAttached(options, staging);
    if (again.attachment.generation !== generation) throw notAttached(staging, again.attachment);
    notes['writtenBefore'] = await writtenSoFar(backend.array, volume);
    if (isBlock(staging.capability)) await stageDevice(devicePath(loop), mountPoint);
    else Object.assign(notes, await mountPath(staging, devicePath(loop), attributes));
  } catch (error) {
    await backend.array.close({ volume, generation }).catch((closing: unknown) => {
      notes['leftOpen'] = describeError(closing);
    });
    throw error;
  }
}

async function openPath(
  { backend, node }: NodeOptions,
  volume: string,
  { generation, loop }: Attachment,
  { keepWrites, flushes }: VolumeAttributes,
): Promise<void> {
  const request = { volume, node, generation, loop, keepData: keepWrites, flushes };
  await backend.array.open(request).catch((error: unknown) => {
    if (!isCodeOf(error, 'PATH_CUT')) throw error;
    throw new CallError(status.FAILED_PRECONDITION, `the array has cut generation ${generation}`);
  });
}

async function mountPath(
  { mountPoint, capability }: Staging,
  device: string,
  { mkfs }: VolumeAttributes,
): Promise<Mounted> {
  await mkdir(mountPoint, { recursive: true });
  return formatAndMount({
    device,
    mountPoint,
    fsType: fileSystemOf(capability),
    multipleMountProtection: mkfs === 'mmp',
    options: mountFlagsOf(capability),
  });
}

export const mountFlagsOf = ({ accessType }: VolumeCapability): readonly string[] =>
  accessType.case === 'mount' ? accessType.value.mountFlags : [];

function contextNumber({ publishContext }: NodeStageVolumeRequest, key: string): number {
  const value = publishContext[key];
  if (value === undefined || !/^\d+$/.test(value)) {
    throw new CallError(status.INVALID_ARGUMENT, `publish_context has no ${key}`);
  }
  return Number(value);
}

/** Throws unless the backend lets this node use this attachment now. */
async function neededAttached(
  { backend, node }: NodeOptions,
  { volume, published }: Staging,
): Promise<{ readonly attachment: Attachment; readonly attributes: VolumeAttributes }> {
  const record = await neededRecord(backend.layout, volume);
  const attachment = heldBy(record, node);
  if (
    attachment?.state !== 'attached' ||
    ![publishedName(attachment), attachment.generation].includes(published)
  ) {
    throw notAttached({ volume, published }, attachment);
  }
  return { attachment, attributes: record.attributes };
}

function notAttached(
  { volume, published }: Pick<Staging, 'volume' | 'published'>,
  held: Attachment | undefined,
): CallError {
  const instead =
    held === undefined ? 'nothing is' : `generation ${held.generation} is ${held.state}`;
  return new CallError(
    status.FAILED_PRECONDITION,
    `generation ${published} of ${volume} is not attached here: ${instead}`,
  );
}

/** Closes what earlier attachments of this node left open and nobody has mounted. */
async function closeLeftovers(
  { backend, node }: NodeOptions,
  volume: string,
  except: number,
): Promise<string[]> {
  const freed: string[] = [];
  for (const { generation, device, claimed } of await livePaths(backend.array, { volume, node })) {
    if (generation === except || claimed) continue;
    await backend.array
      .close({ volume, generation })
      .then(() => freed.push(device))
      .catch(unless('PATH_BUSY'));
  }
  return freed;
}
