/** The CSI controller service: the control plane's side of attach and detach. */
import { access, mkdir, writeFile, statfs, truncate } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { status } from '@grpc/grpc-js';
import { z } from 'zod';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { CallError, type Handlers } from './grpc.ts';
import { isName, type Layout, imagePath } from './layout.ts';
import { attachVolume, detachVolume, type NodeTaints } from './backend.ts';
import {
  isForManyNodes,
  needed,
  neededCapability,
  neededVolume,
  unsupported,
  answerDetach,
  readAttributes,
  neededFiles,
} from './requests.ts';
import {
  type Controller,
  ControllerServiceCapability_RPC_Type as Capability,
  type CapacityRange,
  type ControllerExpandVolumeRequest,
  type CreateVolumeRequest,
  type ListVolumesRequest,
  type ListVolumesResponseSchema,
} from './gen/csi_pb.js';
import { devicePath, type LoopRange } from './devices.ts';
import { type StorageBackend, type CutDevice, writtenSoFar, closed, livePaths } from './paths.ts';
import { isHeld, publishedName, neededRecord, readRecord, locked, readRecords } from './record.ts';
import { InfrastructureError, kubernetesGet, type ApiServer } from '../../core/index.ts';
import { isDirectory } from '../../scenario/index.ts';
import { makeImage, neededImage, readImage, removeImage, type VolumeImage } from './volumes.ts';

const nodePath = (layout: Layout, node: string): string => join(layout.root, 'nodes', node);

/** Idempotent. A node stays known when it dies or is deleted: what it attached is still its. */
export async function registerNode(layout: Layout, node: string): Promise<void> {
  const path = nodePath(layout, node);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, '');
}

/** Throws NOT_FOUND for a node whose driver never ran. */
async function neededNode(layout: Layout, node: string): Promise<void> {
  const known =
    isName(node) &&
    (await access(nodePath(layout, node)).then(
      () => true,
      () => false,
    ));
  if (!known) throw new CallError(status.NOT_FOUND, `there is no node ${node}`);
}

/** What a publish tells the node, by CSI's publish context. */
export const contextKeys = { generation: 'generation' } as const;

interface ControllerOptions {
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

const nodeSchema = z.object({
  spec: z.object({ taints: z.array(z.object({ key: z.string() })).optional() }),
});

/** By the API server; undefined where it has none at that path. Without an API server every question fails. */
export const kubernetesObject =
  (server: ApiServer | undefined) =>
  async (path: string): Promise<unknown> => {
    if (server === undefined) {
      throw new InfrastructureError('NO_API_SERVER', 'the driver has no address of an API server', {
        hint: 'Set KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT in its pod.',
      });
    }
    const { status, body } = await kubernetesGet(server, path);
    if (status === 404) return undefined;
    if (status !== 200) {
      throw new InfrastructureError('NODE_UNKNOWN', `the API server answered ${status}: ${body}`, {
        command: `kubectl get --raw ${path}`,
      });
    }
    return JSON.parse(body);
  };

/** A node that is not there has no taints. */
export const kubernetesTaints =
  (objectAt: ReturnType<typeof kubernetesObject>): NodeTaints =>
  async (node) => {
    const found = await objectAt(`/api/v1/nodes/${encodeURIComponent(node)}`);
    return found === undefined
      ? []
      : (nodeSchema.parse(found).spec.taints ?? []).map(({ key }) => key);
  };

/*
 * Provisioning: volumes made, removed, listed and grown by the CSI controller. Experiments make
 * theirs through the lab; Kubernetes' provisioner and the conformance suite come this way.
 */

type Handled =
  | 'createVolume'
  | 'deleteVolume'
  | 'listVolumes'
  | 'getCapacity'
  | 'controllerExpandVolume';

export const provision = (backend: StorageBackend): Pick<Handlers<typeof Controller>, Handled> => ({
  createVolume: async (request) => {
    const volume = handleOf(needed('name', request.name));
    const { sizeBytes, parameters } = await create(backend.layout, volume, request);
    const capacityBytes = BigInt(sizeBytes);
    return { volume: { volumeId: volume, capacityBytes, volumeContext: parameters } };
  },

  /** What is not there is deleted already. */
  deleteVolume: async ({ volumeId }) => {
    const volume = needed('volume_id', volumeId);
    if (!isName(volume)) return {};
    await locked(backend.layout, async () => {
      await neededIdle(backend, volume);
      await removeImage(backend.layout, volume);
    });
    return {};
  },

  listVolumes: (request) => listVolumes(backend.layout, request),

  /** Tells the shared directory's; images are sparse, so the sum of all volumes may be more. */
  getCapacity: async ({ volumeCapabilities }) => {
    if (volumeCapabilities.some((each) => unsupported(each) !== undefined)) return {};
    const { bavail, bsize } = await statfs(backend.layout.root, { bigint: true });
    return { availableCapacity: bavail * bsize };
  },

  controllerExpandVolume: async (request) => {
    const sizeBytes = await expand(backend, request);
    return { capacityBytes: BigInt(sizeBytes), nodeExpansionRequired: true };
  },
});

/** Any name may be asked for; a handle is one path segment. */
const handleOf = (name: string): string =>
  isName(name) ? name : `volume-${createHash('sha256').update(name).digest('hex').slice(0, 32)}`;

async function create(
  layout: Layout,
  volume: string,
  request: CreateVolumeRequest,
): Promise<VolumeImage> {
  if (request.volumeCapabilities.length === 0) needed('volume_capabilities', '');
  request.volumeCapabilities.forEach(neededCapability);
  if (request.volumeContentSource !== undefined) {
    throw new CallError(status.INVALID_ARGUMENT, 'volumes are made empty: no content source');
  }
  const { parameters, capacityRange } = request;
  if (isDirectory(readAttributes(parameters).detachMode)) {
    request.volumeCapabilities.forEach(neededFiles);
  }
  const asked = { sizeBytes: sizeFor(capacityRange), parameters: { ...parameters } };
  return locked(layout, async () => {
    const there = await readImage(layout, volume);
    if (there === undefined) {
      await makeImage(layout, volume, asked);
      return asked;
    }
    if (
      fitsCapacity(there.sizeBytes, capacityRange) &&
      isDeepStrictEqual(there.parameters, asked.parameters)
    ) {
      return there;
    }
    throw new CallError(
      status.ALREADY_EXISTS,
      `${volume} exists with ${there.sizeBytes} bytes and ${JSON.stringify(there.parameters)}`,
    );
  });
}

/** Only while nobody uses the volume: the next path to it then has the new size. */
async function expand(
  backend: StorageBackend,
  request: ControllerExpandVolumeRequest,
): Promise<number> {
  const { layout } = backend;
  const volume = neededVolume(request.volumeId);
  const { capacityRange, volumeCapability } = request;
  if (capacityRange === undefined) needed('capacity_range', '');
  if (volumeCapability !== undefined) neededCapability(volumeCapability);
  return locked(layout, async () => {
    const there = await neededImage(layout, volume);
    if (fitsCapacity(there.sizeBytes, capacityRange)) return there.sizeBytes;
    const sizeBytes = sizeFor(capacityRange);
    if (sizeBytes < there.sizeBytes) {
      throw new CallError(status.OUT_OF_RANGE, `${volume} has ${there.sizeBytes} bytes already`);
    }
    await neededIdle(backend, volume);
    await truncate(imagePath(layout, volume), sizeBytes);
    return sizeBytes;
  });
}

/** Throws FAILED_PRECONDITION where a node has the volume attached, or an earlier path mounted. */
async function neededIdle({ layout, array }: StorageBackend, volume: string): Promise<void> {
  const record = await readRecord(layout, volume);
  const held = record?.attachments.find(isHeld);
  if (held !== undefined) {
    throw new CallError(status.FAILED_PRECONDITION, `${volume} is attached to ${held.node}`);
  }
  for (const path of await livePaths(array, { volume })) {
    if (await closed(array, path)) continue;
    throw new CallError(status.FAILED_PRECONDITION, `${volume} is still mounted on ${path.node}`);
  }
}

/** A page goes on behind the last volume of the one before, also where that is gone by now. */
const tokenPrefix = 'after:';

/** Page by page. */
async function listVolumes(
  layout: Layout,
  { startingToken, maxEntries }: Pick<ListVolumesRequest, 'startingToken' | 'maxEntries'>,
): Promise<MessageInitShape<typeof ListVolumesResponseSchema>> {
  if (maxEntries < 0) throw new CallError(status.INVALID_ARGUMENT, 'max_entries is negative');
  const after = startingToken === '' ? '' : nameIn(startingToken);
  const names = [...(await readRecords(layout)).keys()].filter((name) => name > after).toSorted();
  const shown = maxEntries === 0 ? names : names.slice(0, maxEntries);
  const entries = [];
  for (const volumeId of shown) {
    const there = await readImage(layout, volumeId);
    if (there === undefined) continue;
    const volumeContext = { ...there.parameters };
    entries.push({ volume: { volumeId, capacityBytes: BigInt(there.sizeBytes), volumeContext } });
  }
  const nextToken = shown.length < names.length ? `${tokenPrefix}${shown.at(-1) ?? ''}` : '';
  return { entries, nextToken };
}

function nameIn(token: string): string {
  const name = token.startsWith(tokenPrefix) ? token.slice(tokenPrefix.length) : '';
  if (isName(name)) return name;
  throw new CallError(status.ABORTED, `${token} is no token of a list of volumes`);
}

const mebibyte = 2 ** 20;
/** Where nothing is asked. */
const defaultBytes = 1024 * mebibyte;
/** mkfs.ext4 makes a journal from here on. */
const smallestBytes = 16 * mebibyte;
/** ext4's largest file, with blocks of 4 KiB, is just below 16 TiB: the image is one. */
const largestBytes = 2 ** 43;

type AskedCapacity = Pick<CapacityRange, 'requiredBytes' | 'limitBytes'> | undefined;

/** Size of a new volume, whole mebibytes. Throws OUT_OF_RANGE where none fits. */
function sizeFor(asked: AskedCapacity): number {
  const { required, limit } = bounds(asked);
  const wanted = required === 0 ? Math.min(defaultBytes, limit) : required;
  const sizeBytes = Math.max(smallestBytes, Math.ceil(wanted / mebibyte) * mebibyte);
  if (sizeBytes <= limit && sizeBytes <= largestBytes) return sizeBytes;
  const sizes = `whole mebibytes from ${smallestBytes} to ${largestBytes}`;
  const why = `no size fits ${required} to ${limit} bytes: ${sizes}`;
  throw new CallError(status.OUT_OF_RANGE, why);
}

/** True where a volume of this size is what the range asks for. */
function fitsCapacity(sizeBytes: number, asked: AskedCapacity): boolean {
  const { required, limit } = bounds(asked);
  return sizeBytes >= required && sizeBytes <= limit;
}

/** In the protocol, 0 means that nothing is asked. */
function bounds(asked: AskedCapacity): { readonly required: number; readonly limit: number } {
  const required = Number(asked?.requiredBytes ?? 0n);
  const limit = Number(asked?.limitBytes ?? 0n);
  return { required, limit: limit === 0 ? Number.POSITIVE_INFINITY : limit };
}
