/** The CSI node service: opens the attachment's path on this node and mounts it. */
import { mkdir, statfs, access } from 'node:fs/promises';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { describeError, InfrastructureError } from '../../core/index.ts';
import {
  fileSystemOf,
  isBlock,
  needed,
  neededCapability,
  neededVolume,
  type VolumeAttributes,
  never,
  neededFiles,
  readAttributes,
} from './requests.ts';
import { contextKeys } from './controller.ts';
import {
  formatAndMount,
  type Mounted,
  devicePath,
  deviceIn,
  isRaw,
  stageDevice,
  stagedAt,
  bindDevice,
  bindMount,
  cleanUpMountPoint,
  cleanUpStaging,
  isSameDisk,
  type MountEntry,
  mountAt,
  ownMounts,
  must,
} from './devices.ts';
import {
  type NodeStageVolumeRequest,
  type VolumeCapability,
  type Node,
  type NodePublishVolumeRequest,
  NodeServiceCapability_RPC_Type as Capability,
  VolumeCapability_AccessMode_Mode as Mode,
  VolumeUsage_Unit as Unit,
} from './gen/csi_pb.js';
import { CallError, type CallNotes, type Handlers } from './grpc.ts';
import { decideStage } from './backend.ts';
import { closeUnused, openPath, type StorageBackend, writtenSoFar, livePaths } from './paths.ts';
import {
  type Attachment,
  heldBy,
  publishedName,
  type VolumeRecord,
  neededRecord,
  readRecord,
} from './record.ts';
import { isName, type Layout, filesPath } from './layout.ts';
import { neededImage } from './volumes.ts';
import { isDirectory } from '../../scenario/index.ts';

interface NodeOptions {
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

const mountFlagsOf = ({ accessType }: VolumeCapability): readonly string[] =>
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

/*
 * The CSI node service of shared directories: files.forcedetach.dev. It has no attach phase and no
 * staging, as drivers of NFS; Kubernetes publishes a volume wherever a pod wants it.
 */

interface FilesNodeOptions {
  readonly layout: Layout;
  /** This node's name, which is its CSI node id too. */
  readonly node: string;
}

export const filesNodeService = ({ layout, node }: FilesNodeOptions): Handlers<typeof Node> => ({
  nodeGetCapabilities: async () => ({ capabilities: [] }),
  nodeGetInfo: async () => ({ nodeId: node }),

  nodePublishVolume: async (request, notes) => {
    const volume = neededVolume(request.volumeId);
    const target = needed('target_path', request.targetPath);
    const flags = mountFlagsOf(neededFiles(neededCapability(request.volumeCapability)));
    const { detachMode, fileLocks } = readAttributes(request.volumeContext);
    if (!isDirectory(detachMode)) {
      throw new CallError(status.INVALID_ARGUMENT, `a shared directory cannot be ${detachMode}`);
    }
    Object.assign(notes, { detachMode, fileLocks });
    await neededRecord(layout, volume);
    if ((await mountAt(target)) !== undefined) return {};
    const files = filesPath(layout, volume);
    await mkdir(files, { recursive: true });
    if (fileLocks === 'local') await mountFiles(layout, files, target);
    else await bindMount(files, target, request.readonly || flags.includes('ro'));
    return {};
  },

  nodeUnpublishVolume: async ({ volumeId, targetPath }) => {
    needed('volume_id', volumeId);
    await cleanUpMountPoint(needed('target_path', targetPath));
    return {};
  },
});

/** The array's program puts a copy of itself there: the nodes' images do not have it. */
const programPath = ({ root }: Layout): string => join(root, 'bin', 'forcedetach-array');
const patienceMs = 5000;

/**
 * Mounts a shared directory with a lock table of its own, as NFS mounted with `nolock`: the file
 * system passes everything through but locks, which the kernel then keeps per mount.
 * Its process lives for as long as the mount, and ends with the driver's pod, as FUSE's do.
 */
async function mountFiles(layout: Layout, files: string, target: string): Promise<void> {
  const program = programPath(layout);
  await access(program).catch((error: unknown) => {
    throw new InfrastructureError('NO_FILES_PROGRAM', `${program} is not there`, { cause: error });
  });
  await mkdir(target, { recursive: true });
  const args = ['files', '--root', files, '--mount', target];
  const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'], detached: true });
  const failed = new Promise<never>((_, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new TypeError(`it ended with exit code ${code}`)));
  });
  try {
    await Promise.race([failed, mounted(target)]);
  } catch (error) {
    child.kill('SIGTERM');
    const command = [program, ...args].join(' ');
    throw new InfrastructureError('FILES_NOT_MOUNTED', `${files} could not be mounted`, {
      command,
      cause: error,
    });
  }
  failed.catch(() => undefined);
  child.unref();
}

async function mounted(target: string): Promise<void> {
  const giveUpAt = performance.now() + patienceMs;
  while ((await mountAt(target)) === undefined) {
    if (performance.now() > giveUpAt) throw new TypeError(`no mount within ${patienceMs} ms`);
    await sleep(20);
  }
}
