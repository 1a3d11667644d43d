/** The driver's calls by short names, about one volume. */
import { create } from '@bufbuild/protobuf';
import type { ArrayPort } from '../../lib/storage/csi/array-client.ts';
import { controller } from '../../lib/storage/csi/controller.ts';
import * as csi from '../../lib/storage/csi/gen/csi_pb.js';
import { layoutOf } from '../../lib/storage/csi/layout.ts';
import type { NodeTaints } from '../../lib/storage/csi/backend.ts';
import { nodeService } from '../../lib/storage/csi/node.ts';
import type { DiskMode } from '../../lib/scenario/disks/index.ts';

export const nodes = ['a', 'b', 'c'] as const;
export type NodeName = (typeof nodes)[number];
export type CallName =
  | 'create'
  | 'delete'
  | 'publish'
  | 'unpublish'
  | 'stage'
  | 'unstage'
  | 'nodePublish'
  | 'nodeUnpublish';

export const volume = 'pv';
export const loops = { first: 100, last: 107 };
export const layout = layoutOf('/shared');
const capability = {
  accessType: { case: 'mount', value: { fsType: 'ext4' } },
  accessMode: { mode: csi.VolumeCapability_AccessMode_Mode.SINGLE_NODE_WRITER },
} as const;
export const cutAfterMs = 5000;

export type Services = Readonly<
  Record<CallName, (node: NodeName, context?: Record<string, string>) => Promise<unknown>>
>;

export interface ServicesOptions {
  readonly array: ArrayPort;
  readonly taints: NodeTaints;
  /** The node whose driver it is; the controller asks no node service. */
  readonly who: string;
  readonly detachMode: DiskMode;
}

/** As one process has them. */
export function newServices({ array, taints, who, detachMode }: ServicesOptions): Services {
  const backend = { layout, array };
  const control = controller({ backend, loops, taints });
  const service = nodeService({ backend, node: who });
  const attributes = { detachMode, cutAfterMs: String(cutAfterMs) };
  const named = (node: string): { volumeId: string; stagingTargetPath: string } => ({
    volumeId: volume,
    stagingTargetPath: `/${node}/staging`,
  });
  const target = (node: string): { targetPath: string } => ({ targetPath: `/${node}/target` });
  return {
    create: () =>
      must(control.createVolume)(
        create(csi.CreateVolumeRequestSchema, {
          name: volume,
          volumeCapabilities: [capability],
          parameters: attributes,
        }),
        {},
      ),
    delete: () =>
      must(control.deleteVolume)(create(csi.DeleteVolumeRequestSchema, { volumeId: volume }), {}),
    publish: (nodeId) =>
      must(control.controllerPublishVolume)(
        create(csi.ControllerPublishVolumeRequestSchema, {
          volumeId: volume,
          nodeId,
          volumeCapability: capability,
          volumeContext: attributes,
        }),
        {},
      ),
    unpublish: (nodeId) =>
      must(control.controllerUnpublishVolume)(
        create(csi.ControllerUnpublishVolumeRequestSchema, { volumeId: volume, nodeId }),
        {},
      ),
    stage: (node, publishContext = {}) =>
      must(service.nodeStageVolume)(
        create(csi.NodeStageVolumeRequestSchema, {
          ...named(node),
          volumeCapability: capability,
          publishContext,
          volumeContext: attributes,
        }),
        {},
      ),
    unstage: (node) =>
      must(service.nodeUnstageVolume)(create(csi.NodeUnstageVolumeRequestSchema, named(node)), {}),
    nodePublish: (node, publishContext = {}) =>
      must(service.nodePublishVolume)(
        create(csi.NodePublishVolumeRequestSchema, {
          ...named(node),
          ...target(node),
          volumeCapability: capability,
          publishContext,
        }),
        {},
      ),
    nodeUnpublish: (node) =>
      must(service.nodeUnpublishVolume)(
        create(csi.NodeUnpublishVolumeRequestSchema, { volumeId: volume, ...target(node) }),
        {},
      ),
  };
}

function must<T>(handler: T | undefined): T {
  if (handler === undefined) throw new Error('the driver lacks a handler');
  return handler;
}
