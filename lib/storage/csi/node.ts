/** The CSI node service: opens the attachment's path on this node and mounts it. */
import { statfs } from 'node:fs/promises';
import { status } from '@grpc/grpc-js';
import { isBlock, needed, neededCapability, neededVolume } from './check-request.ts';
import {
  type Node,
  type NodePublishVolumeRequest,
  NodeServiceCapability_RPC_Type as Capability,
  type VolumeCapability,
  VolumeCapability_AccessMode_Mode as Mode,
  VolumeUsage_Unit as Unit,
} from './gen/csi_pb.js';
import { CallError, type Handlers } from './grpc.ts';
import { isName, type Layout } from './layout.ts';
import { never } from './lies.ts';
import {
  bindDevice,
  bindMount,
  cleanUpMountPoint,
  cleanUpStaging,
  deviceIn,
  isRaw,
  isSameDisk,
  type MountEntry,
  mountAt,
  ownMounts,
  stagedAt,
} from './mounts.ts';
import { livePaths } from './paths.ts';
import { readRecord } from './record-store.ts';
import { must } from './run-program.ts';
import { mountFlagsOf, type NodeOptions, stage } from './stage.ts';
import { neededImage } from './volumes.ts';

const capabilities = [
  Capability.STAGE_UNSTAGE_VOLUME,
  Capability.SINGLE_NODE_MULTI_WRITER,
  Capability.GET_VOLUME_STATS,
  Capability.EXPAND_VOLUME,
];

export function nodeService(options: NodeOptions): Handlers<typeof Node> {
  const alone = oneAtATime();
  return {
    nodeGetCapabilities: async () => ({
      capabilities: capabilities.map((type) => ({ type: { case: 'rpc', value: { type } } })),
    }),
    nodeGetInfo: async () => ({ nodeId: options.node }),

    nodeStageVolume: async (request, notes) => {
      const record = await readRecord(options.backend.layout, neededVolume(request.volumeId));
      if (record?.attributes.stageAnswer === 'never') await never();
      await alone(request.volumeId, () => stage(options, request, notes));
      return {};
    },

    /** Fails, to be tried again, while another mount namespace still holds the device. */
    nodeUnstageVolume: async ({ volumeId, stagingTargetPath }) => {
      const volume = needed('volume_id', volumeId);
      const mountPoint = needed('staging_target_path', stagingTargetPath);
      await alone(volume, async () => {
        await cleanUpStaging(mountPoint);
        if (isName(volume)) await closePaths(options, volume);
      });
      return {};
    },

    nodePublishVolume: async (request) => {
      neededVolume(request.volumeId);
      await publish(request);
      return {};
    },

    nodeUnpublishVolume: async ({ volumeId, targetPath }) => {
      needed('volume_id', volumeId);
      await cleanUpMountPoint(needed('target_path', targetPath));
      return {};
    },

    ...mountedVolume(options.backend.layout),
  };
}

async function publish(request: NodePublishVolumeRequest): Promise<void> {
  const target = needed('target_path', request.targetPath);
  const staging = needed('staging_target_path', request.stagingTargetPath);
  const capability = neededCapability(request.volumeCapability);
  const staged = await stagedAt(staging);
  if (staged === undefined || isRaw(staged) !== isBlock(capability)) {
    const how = staged === undefined ? 'nothing is' : 'the other kind of volume is';
    throw new CallError(status.FAILED_PRECONDITION, `${how} staged at ${staging}`);
  }
  const published = await mountAt(target);
  if (published !== undefined && isSameDisk(published, staged)) return;
  if (published !== undefined) {
    throw new CallError(status.ALREADY_EXISTS, `${target} has ${published.device} mounted`);
  }
  await neededSingleWriter(capability, target, staged);
  // A raw device that is to be read only is made so by who gives it to a container.
  if (isRaw(staged)) return bindDevice(staged.mountPoint, target);
  await bindMount(staging, target, request.readonly || mountFlagsOf(capability).includes('ro'));
}

/** Closes those of this node's attachments, whatever the record says of them by now. */
async function closePaths({ backend, node }: NodeOptions, volume: string): Promise<void> {
  for (const { generation } of await livePaths(backend.array, { volume, node })) {
    await backend.array.close({ volume, generation });
  }
}

/**
 * One call about a volume at a time, as the CSI specification asks: a second one is ABORTED. Kubelet
 * gives a call up after two minutes and makes it anew, while the first one still waits for a disk
 * that does not answer; together they would check a file system that is being mounted.
 */
function oneAtATime(): (volume: string, work: () => Promise<void>) => Promise<void> {
  const underWay = new Set<string>();
  return async (volume, work) => {
    if (underWay.has(volume)) {
      throw new CallError(status.ABORTED, `another call about ${volume} is under way`);
    }
    underWay.add(volume);
    await work().finally(() => underWay.delete(volume));
  };
}

/** Kubernetes' ReadWriteOncePod: throws FAILED_PRECONDITION where the node has another target. */
async function neededSingleWriter(
  { accessMode }: VolumeCapability,
  target: string,
  staged: MountEntry,
): Promise<void> {
  if (accessMode?.mode !== Mode.SINGLE_NODE_SINGLE_WRITER) return;
  const other = (await ownMounts()).find(
    (mount) => isSameDisk(mount, staged) && ![staged.mountPoint, target].includes(mount.mountPoint),
  );
  if (other === undefined) return;
  throw new CallError(status.FAILED_PRECONDITION, `published at ${other.mountPoint} already`);
}

/**
 * What one asks of a volume that is mounted: its usage and its growth. A raw volume has a size,
 * and no file system to ask.
 */
const mountedVolume = (
  layout: Layout,
): Pick<Handlers<typeof Node>, 'nodeGetVolumeStats' | 'nodeExpandVolume'> => ({
  nodeGetVolumeStats: async (request) => {
    const { path, mount, sizeBytes } = await neededMounted(layout, request);
    if (isRaw(mount)) return { usage: [{ unit: Unit.BYTES, total: BigInt(sizeBytes) }] };
    const { bsize, blocks, bfree, bavail, files, ffree } = await statfs(path, { bigint: true });
    const bytes = { total: blocks * bsize, available: bavail * bsize };
    return {
      usage: [
        { unit: Unit.BYTES, ...bytes, used: (blocks - bfree) * bsize },
        { unit: Unit.INODES, total: files, available: ffree, used: files - ffree },
      ],
    };
  },

  nodeExpandVolume: async (request) => {
    const { volume, path, mount, sizeBytes } = await neededMounted(layout, request);
    const device = deviceIn(mount);
    if (device === undefined) throw notMounted(volume, path);
    if (!isRaw(mount))
      await (mount.fsType === 'xfs' ? must('xfs_growfs', path) : must('resize2fs', device));
    return { capacityBytes: BigInt(sizeBytes) };
  },
});

async function neededMounted(
  layout: Layout,
  { volumeId, volumePath }: { readonly volumeId: string; readonly volumePath: string },
): Promise<{ volume: string; path: string; mount: MountEntry; sizeBytes: number }> {
  const path = needed('volume_path', volumePath);
  const volume = neededVolume(volumeId);
  const { sizeBytes } = await neededImage(layout, volume);
  const mount = await stagedAt(path);
  if (mount === undefined) throw notMounted(volume, path);
  return { volume, path, mount, sizeBytes };
}

const notMounted = (volume: string, path: string): CallError =>
  new CallError(status.NOT_FOUND, `${volume} is not mounted at ${path}`);
