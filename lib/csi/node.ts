/** The CSI node service: makes the attachment's device on this node and mounts it. */
import { mkdir } from 'node:fs/promises';
import { status } from '@grpc/grpc-js';
import { boundAttachments, writtenSoFar } from './backend.ts';
import { needed, neededCapability, neededVolume } from './check-request.ts';
import { contextKeys } from './controller.ts';
import { formatAndMount } from './format-and-mount.ts';
import {
  type Node,
  type NodeStageVolumeRequest,
  NodeServiceCapability_RPC_Type as Capability,
  type VolumeCapability,
} from './gen/csi_pb.js';
import { CallError, type Handlers, type Notes } from './grpc.ts';
import { imagePath, isName, type Layout } from './layout.ts';
import { bind, devicePath, isClaimed, serves, unbind } from './loop-device.ts';
import { bindMount, cleanUpMountPoint, loopOf, mountAt } from './mounts.ts';
import { readRecord } from './record-store.ts';

export interface NodeOptions {
  readonly layout: Layout;
  /** This node's name, which is its CSI node id too. */
  readonly node: string;
}

export const nodeService = (options: NodeOptions): Handlers<typeof Node> => ({
  nodeGetCapabilities: async () => ({
    capabilities: [{ type: { case: 'rpc', value: { type: Capability.STAGE_UNSTAGE_VOLUME } } }],
  }),
  nodeGetInfo: async () => ({ nodeId: options.node }),

  nodeStageVolume: (request, notes) => stage(options, request, notes),

  nodeUnstageVolume: async ({ volumeId, stagingTargetPath }) => {
    const volume = needed('volume_id', volumeId);
    await cleanUpMountPoint(needed('staging_target_path', stagingTargetPath));
    // A device that another mount namespace still holds goes with its last unmount.
    for (const loop of await devicesHere(options, volume)) await unbind(loop);
    return {};
  },

  nodePublishVolume: async (request) => {
    neededVolume(request.volumeId);
    const target = needed('target_path', request.targetPath);
    const staging = needed('staging_target_path', request.stagingTargetPath);
    const capability = neededCapability(request.volumeCapability);
    const staged = await mountAt(staging);
    if (staged === undefined) {
      throw new CallError(status.FAILED_PRECONDITION, `nothing is staged at ${staging}`);
    }
    const published = await mountAt(target);
    if (published?.device === staged.device) return {};
    if (published !== undefined) {
      throw new CallError(status.ALREADY_EXISTS, `${target} has ${published.device} mounted`);
    }
    await bindMount(staging, target, request.readonly || flagsOf(capability).includes('ro'));
    return {};
  },

  nodeUnpublishVolume: async ({ volumeId, targetPath }) => {
    needed('volume_id', volumeId);
    await cleanUpMountPoint(needed('target_path', targetPath));
    return {};
  },
});

async function stage(
  options: NodeOptions,
  request: NodeStageVolumeRequest,
  notes: Notes,
): Promise<Record<string, never>> {
  const volume = neededVolume(request.volumeId);
  const staging = needed('staging_target_path', request.stagingTargetPath);
  const capability = neededCapability(request.volumeCapability);
  const generation = contextNumber(request, contextKeys.generation);
  const loop = contextNumber(request, contextKeys.loop);
  Object.assign(notes, { generation, device: devicePath(loop) });

  await neededAttached(options, volume, generation);
  const staged = await mountAt(staging);
  if (staged !== undefined && loopOf(staged) === loop) return {};
  if (staged !== undefined) {
    throw new CallError(status.ALREADY_EXISTS, `${staging} has ${staged.device} mounted`);
  }
  notes['freed'] = await freeLeftovers(options, volume, loop);

  const file = imagePath(options.layout, volume);
  if (!(await serves(loop, file))) await bind(loop, file);
  // Asked again: a cut from now on finds the device, an earlier one is in the record (backend.ts).
  await neededAttached(options, volume, generation).catch(async (error: unknown) => {
    await unbind(loop);
    throw error;
  });

  notes['writtenBefore'] = await writtenSoFar(options.layout, volume);
  await mkdir(staging, { recursive: true });
  const mounted = await formatAndMount({
    device: devicePath(loop),
    mountPoint: staging,
    fsType: 'ext4',
    options: flagsOf(capability),
  });
  Object.assign(notes, mounted);
  return {};
}

const flagsOf = ({ accessType }: VolumeCapability): readonly string[] =>
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
  { layout, node }: NodeOptions,
  volume: string,
  generation: number,
): Promise<void> {
  const record = await readRecord(layout, volume);
  if (record === undefined) {
    throw new CallError(status.NOT_FOUND, `there is no volume ${volume}`);
  }
  const attachment = record.attachments.find((each) => each.generation === generation);
  if (attachment?.node === node && attachment.state === 'attached') return;
  throw new CallError(
    status.FAILED_PRECONDITION,
    `generation ${generation} of ${volume} is ${attachment?.state ?? 'unknown'}, not attached to ${node}`,
  );
}

/** Devices that earlier attachments of this node left behind and nobody has mounted. */
async function freeLeftovers(
  options: NodeOptions,
  volume: string,
  except: number,
): Promise<string[]> {
  const freed: string[] = [];
  for (const loop of await devicesHere(options, volume)) {
    if (loop === except || (await isClaimed(loop))) continue;
    await unbind(loop);
    freed.push(devicePath(loop));
  }
  return freed;
}

/** Numbers of the devices that serve the volume to this node now. */
async function devicesHere({ layout, node }: NodeOptions, volume: string): Promise<number[]> {
  const record = isName(volume) ? await readRecord(layout, volume) : undefined;
  if (record === undefined) return [];
  const bound = await boundAttachments(layout, volume, record);
  return bound.filter((each) => each.node === node).map(({ loop }) => loop);
}
