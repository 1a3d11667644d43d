/** The CSI controller service: the control plane's side of attach and detach. */
import { status } from '@grpc/grpc-js';
import { attachVolume, detachVolume } from './backend.ts';
import {
  isForManyNodes,
  needed,
  neededCapability,
  neededVolume,
  unsupported,
} from './check-request.ts';
import {
  type Controller,
  ControllerServiceCapability_RPC_Type as Capability,
} from './gen/csi_pb.js';
import { CallError, type Handlers } from './grpc.ts';
import { isName } from './layout.ts';
import { devicePath } from './loop-device.ts';
import { answerDetach } from './lies.ts';
import type { LoopRange } from './loop-device.ts';
import type { NodeTaints } from './modes.ts';
import { neededNode } from './nodes.ts';
import { type StorageBackend, type CutDevice, writtenSoFar } from './paths.ts';
import { provision } from './provision.ts';
import { isHeld, publishedName } from './record.ts';
import { neededRecord, readRecord } from './record-store.ts';
import { readAttributes } from './volume-attributes.ts';

/** What a publish tells the node, by CSI's publish context. */
export const contextKeys = { generation: 'generation' } as const;

export interface ControllerOptions {
  readonly backend: StorageBackend;
  /** Numbers of the loop devices leased to the cluster. */
  readonly loops: LoopRange;
  readonly taints: NodeTaints;
}

const capabilities = [
  Capability.PUBLISH_UNPUBLISH_VOLUME,
  Capability.SINGLE_NODE_MULTI_WRITER,
  Capability.CREATE_DELETE_VOLUME,
  Capability.LIST_VOLUMES,
  Capability.GET_CAPACITY,
  Capability.EXPAND_VOLUME,
];

export const controller = ({
  backend,
  loops,
  taints,
}: ControllerOptions): Handlers<typeof Controller> => ({
  controllerGetCapabilities: async () => ({
    capabilities: capabilities.map((type) => ({ type: { case: 'rpc', value: { type } } })),
  }),

  controllerPublishVolume: async (request, notes) => {
    const volume = neededVolume(request.volumeId);
    const node = needed('node_id', request.nodeId);
    const manyNodes = isForManyNodes(neededCapability(request.volumeCapability));
    const attributes = readAttributes(request.volumeContext);
    await neededRecord(backend.layout, volume);
    await neededNode(backend.layout, node);
    notes['detachMode'] = attributes.detachMode;
    notes['writtenBefore'] = await writtenSoFar(backend.array, volume);
    const asked = { volume, node, attributes, manyNodes, notes };
    const attachment = await attachVolume(backend, loops, asked);
    const { generation, loop, state } = attachment;
    Object.assign(notes, { generation, device: devicePath(loop) });
    if (state !== 'attached') {
      throw new CallError(status.FAILED_PRECONDITION, `the path of ${node} to ${volume} is cut`);
    }
    return { publishContext: { [contextKeys.generation]: String(publishedName(attachment)) } };
  },

  /** No node means all of them; what is not attached, or not there, is detached already. */
  controllerUnpublishVolume: async ({ volumeId, nodeId }, notes) => {
    const volume = needed('volume_id', volumeId);
    const record = isName(volume) ? await readRecord(backend.layout, volume) : undefined;
    if (record === undefined) return {};
    notes['detachMode'] = record.attributes.detachMode;
    notes['writtenBefore'] = await writtenSoFar(backend.array, volume);
    const held = record.attachments.filter(
      (each) => isHeld(each) && (nodeId === '' || each.node === nodeId),
    );
    notes['generation'] = held.at(-1)?.generation;
    const cut: CutDevice[] = [];
    notes['cut'] = cut;
    await answerDetach(record.attributes.detachAnswer, async () => {
      for (const { node } of held) {
        cut.push(...(await detachVolume(backend, { volume, node, taints, notes })));
      }
    });
    return {};
  },

  validateVolumeCapabilities: async ({ volumeId, volumeContext, volumeCapabilities }) => {
    const volume = neededVolume(volumeId);
    if (volumeCapabilities.length === 0) needed('volume_capabilities', '');
    await neededRecord(backend.layout, volume);
    const why = volumeCapabilities.map(unsupported).find((each) => each !== undefined);
    return why === undefined
      ? { confirmed: { volumeContext, volumeCapabilities } }
      : { message: why };
  },

  ...provision(backend),
});
