/**
 * The CSI node service of shared directories: files.forcedetach.dev. It has no attach phase and no
 * staging, as drivers of NFS; Kubernetes publishes a volume wherever a pod wants it.
 */
import { spawn } from 'node:child_process';
import { access, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { isDirectory } from '../../scenario/index.ts';
import { InfrastructureError } from '../../core/index.ts';
import { needed, neededCapability, neededFiles, neededVolume } from './check-request.ts';
import type { Node } from './gen/csi_pb.js';
import { CallError, type Handlers } from './grpc.ts';
import { filesPath, type Layout } from './layout.ts';
import { bindMount, cleanUpMountPoint, mountAt } from './mounts.ts';
import { neededRecord } from './record-store.ts';
import { mountFlagsOf } from './stage.ts';
import { readAttributes } from './volume-attributes.ts';

export interface FilesNodeOptions {
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
