/** The CSI node service: opens the attachment's path on this node and mounts it. */
import { status } from '@grpc/grpc-js';
import { isBlock, needed, neededCapability, neededVolume } from './check-request.ts';
import { fileSystemExpansion } from './expand-file-system.ts';
import {
  type Node,
  type NodePublishVolumeRequest,
  NodeServiceCapability_RPC_Type as Capability,
} from './gen/csi_pb.js';
import { CallError, type Handlers } from './grpc.ts';
import { isName } from './layout.ts';
import { never } from './lies.ts';
import {
  bindDevice,
  bindMount,
  cleanUpMountPoint,
  cleanUpStaging,
  isRaw,
  isSameDisk,
  mountAt,
  stagedAt,
} from './mounts.ts';
import { OneAtATime } from './one-at-a-time.ts';
import { livePaths } from './paths.ts';
import { readRecord } from './record-store.ts';
import { neededSingleWriter } from './single-writer.ts';
import { mountFlagsOf, type NodeOptions, stage } from './stage.ts';
import { volumeStats } from './volume-stats.ts';

const capabilities = [
  Capability.STAGE_UNSTAGE_VOLUME,
  Capability.SINGLE_NODE_MULTI_WRITER,
  Capability.GET_VOLUME_STATS,
  Capability.EXPAND_VOLUME,
];

export function nodeService(options: NodeOptions): Handlers<typeof Node> {
  const oneAtATime = new OneAtATime();
  return {
    nodeGetCapabilities: async () => ({
      capabilities: capabilities.map((type) => ({ type: { case: 'rpc', value: { type } } })),
    }),
    nodeGetInfo: async () => ({ nodeId: options.node }),

    nodeStageVolume: async (request, notes) => {
      const record = await readRecord(options.backend.layout, neededVolume(request.volumeId));
      if (record?.attributes.stageAnswer === 'never') await never();
      await oneAtATime.run(request.volumeId, () => stage(options, request, notes));
      return {};
    },

    /** Fails, to be tried again, while another mount namespace still holds the device. */
    nodeUnstageVolume: async ({ volumeId, stagingTargetPath }) => {
      const volume = needed('volume_id', volumeId);
      const mountPoint = needed('staging_target_path', stagingTargetPath);
      await oneAtATime.run(volume, async () => {
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

    ...volumeStats(options.backend.layout),
    ...fileSystemExpansion(options.backend.layout),
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
  await neededSingleWriter(capability, { target, staged });
  // A raw device that is to be read only is made so by who gives it to a container.
  if (isRaw(staged)) return bindDevice(staged.mountPoint, target);
  await bindMount(staging, target, request.readonly || mountFlagsOf(capability).includes('ro'));
}

/** Of an attachment of this node, whatever the record says of it by now. */
async function closePaths({ backend, node }: NodeOptions, volume: string): Promise<void> {
  for (const { generation } of await livePaths(backend.array, { volume, node })) {
    await backend.array.close({ volume, generation });
  }
}
