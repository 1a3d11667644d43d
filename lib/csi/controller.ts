/** The CSI controller service: the control plane's side of attach and detach. */
import { status } from '@grpc/grpc-js';
import { attachVolume, detachVolume, writtenSoFar } from './backend.ts';
import { needed, neededCapability, neededVolume, unsupported } from './check-request.ts';
import {
  type Controller,
  ControllerServiceCapability_RPC_Type as Capability,
} from './gen/csi_pb.js';
import { CallError, type Handlers } from './grpc.ts';
import type { Layout } from './layout.ts';
import type { LoopRange } from './loop-range.ts';
import { type DetachMode, detachModes } from './record.ts';
import { readRecord } from './record-store.ts';

/** What a publish tells the node, by CSI's publish context. */
export const contextKeys = { generation: 'generation', loop: 'loop' } as const;

export const controller = (layout: Layout, loops: LoopRange): Handlers<typeof Controller> => ({
  controllerGetCapabilities: async () => ({
    capabilities: [{ type: { case: 'rpc', value: { type: Capability.PUBLISH_UNPUBLISH_VOLUME } } }],
  }),

  controllerPublishVolume: async (request, notes) => {
    const volume = neededVolume(request.volumeId);
    const node = needed('node_id', request.nodeId);
    neededCapability(request.volumeCapability);
    notes['writtenBefore'] = await writtenSoFar(layout, volume);
    const mode = detachModeOf(request.volumeContext);
    const { generation, loop, state } = await attachVolume(layout, loops, { volume, node, mode });
    Object.assign(notes, { generation, device: `/dev/loop${loop}`, detachMode: mode });
    if (state !== 'attached') {
      throw new CallError(status.FAILED_PRECONDITION, `the path of ${node} to ${volume} is cut`);
    }
    return {
      publishContext: {
        [contextKeys.generation]: String(generation),
        [contextKeys.loop]: String(loop),
      },
    };
  },

  /** No node means all of them; what is not attached, or not there, is detached already. */
  controllerUnpublishVolume: async ({ volumeId, nodeId }, notes) => {
    const volume = needed('volume_id', volumeId);
    const record = await readRecord(layout, volume).catch(() => undefined);
    if (record === undefined) return {};
    notes['detachMode'] = record.mode;
    notes['writtenBefore'] = await writtenSoFar(layout, volume);
    const nodes = nodeId === '' ? record.attachments.map(({ node }) => node) : [nodeId];
    const held = record.attachments.filter(
      ({ node, state }) => nodes.includes(node) && state !== 'detached',
    );
    notes['generation'] = held.at(-1)?.generation;
    const cut = [];
    for (const node of new Set(nodes)) cut.push(...(await detachVolume(layout, { volume, node })));
    notes['cut'] = cut;
    return {};
  },

  validateVolumeCapabilities: async ({ volumeId, volumeContext, volumeCapabilities }) => {
    const volume = neededVolume(volumeId);
    if (volumeCapabilities.length === 0) needed('volume_capabilities', '');
    if ((await readRecord(layout, volume)) === undefined) {
      throw new CallError(status.NOT_FOUND, `there is no volume ${volume}`);
    }
    const why = volumeCapabilities.map(unsupported).find((each) => each !== undefined);
    return why === undefined
      ? { confirmed: { volumeContext, volumeCapabilities } }
      : { message: why };
  },
});

/** The volume's `detachMode` attribute; `unfenced` where it has none. */
function detachModeOf(context: Readonly<Record<string, string>>): DetachMode {
  const asked = context['detachMode'] ?? 'unfenced';
  const mode = detachModes.find((each) => each === asked);
  if (mode === undefined) {
    throw new CallError(
      status.INVALID_ARGUMENT,
      `detachMode ${asked} is none of ${detachModes.join(', ')}`,
    );
  }
  return mode;
}
