/**
 * What both hosts stand on: one folder with the volumes, the array that serves them, and a container
 * in which blank volumes are made and copies are audited.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../../lib/core/index.ts';
import {
  copyTimeoutMs,
  diskTool,
  kindAuditor,
  type Lab,
  labIn,
  startArray,
  start,
} from '../../lib/kind/index.ts';
import {
  arrayAt,
  type ArrayPort,
  defaultRoot,
  imagePath,
  layoutOf,
  volumeFolder,
  type Layout,
} from '../../lib/storage/index.ts';
import type { Auditor } from '../../lib/run/index.ts';
import type { ImageLabel, CopyIdentity, VolumeIdentity } from '../../lib/history/index.ts';
import type { ComparedFilesystem } from './host.ts';
import { claimLabLease, releaseLabLease, type LabLease } from './lab-lease.ts';
import { mysql } from '../../lib/mysql/index.ts';

const bareServer = await mysql.real.bare();

export interface DiskLabOptions {
  readonly tools: string;
  readonly arrayImage: string;
}

const blankSize = '1G';

export class DiskLab implements AsyncDisposable {
  readonly lease: LabLease;
  readonly array: ArrayPort;
  readonly #lab: Lab;
  readonly #options: DiskLabOptions;
  readonly #blanks = new Set<ComparedFilesystem>();

  private constructor(lease: LabLease, options: DiskLabOptions) {
    this.lease = lease;
    this.#options = options;
    this.#lab = labIn(lease.containers.lab);
    this.array = arrayAt(layoutOf(lease.folder).arraySocket);
  }

  static async open(options: DiskLabOptions): Promise<DiskLab> {
    const folder = await mkdtemp(join(tmpdir(), 'fd-two-kernels-'));
    await mkdir(layoutOf(folder).copies);
    const main = 'mount -t devtmpfs devtmpfs /dev && exec sleep infinity';
    const lease = await claimLabLease(folder, options.tools, ({ containers, labels }) => {
      const flags = [
        ...['--init', '--name', containers.lab, ...labels, '--privileged', '--network', 'none'],
        ...['--volume', `${folder}:${defaultRoot}`, '--volume', `${projectRoot}:/app:ro`],
        ...['--workdir', '/app', '--entrypoint', 'sh'],
      ];
      return start(flags, options.tools, '-c', main);
    });
    const lab = new DiskLab(lease, options);
    try {
      await lab.#startArray();
    } catch (error) {
      await lab[Symbol.asyncDispose]();
      throw error;
    }
    return lab;
  }

  /** A new volume with an initialised, empty database. Its name was never used before. */
  async newVolume(name: string, filesystem: ComparedFilesystem): Promise<void> {
    if (!this.#blanks.has(filesystem)) await this.#makeBlank(filesystem);
    this.#blanks.add(filesystem);
    await mkdir(volumeFolder(this.#layout, name), { recursive: true });
    const from = join(defaultRoot, `${filesystem}.img`);
    const to = imagePath(layoutOf(defaultRoot), name);
    await this.#lab.exec(['cp', '--sparse=always', from, to], { timeoutMs: copyTimeoutMs });
  }

  identify(volume: string): Promise<VolumeIdentity> {
    return diskTool(this.#lab, 'identify', { volume });
  }

  /** Copies the volume as it is now to where the auditor looks for that image. */
  copy(volume: string, label: ImageLabel, signal?: AbortSignal): Promise<CopyIdentity> {
    return diskTool(this.#lab, 'copy', { volume, label }, { timeoutMs: copyTimeoutMs, signal });
  }

  auditor(seed: string): Auditor {
    return kindAuditor({ real: mysql.real, lab: this.#lab, loop: this.lease.loops.audit, seed });
  }

  /** Cuts all paths of the volume and takes it away. Its nodes must be gone. */
  async removeVolume(volume: string): Promise<void> {
    for (const { generation, state } of await this.array.status(volume)) {
      if (state !== 'closed') await this.array.close({ volume, generation, force: true });
    }
    await rm(volumeFolder(this.#layout, volume), { recursive: true, force: true });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return releaseLabLease(this.lease, this.#options.tools);
  }

  get #layout(): Layout {
    return layoutOf(this.lease.folder);
  }

  async #startArray(): Promise<void> {
    const { containers, labels, folder } = this.lease;
    const { arrayImage: image } = this.#options;
    await startArray({
      container: containers.array,
      image,
      source: folder,
      root: defaultRoot,
      labels,
    });
  }

  async #makeBlank(filesystem: ComparedFilesystem): Promise<void> {
    const argv = [
      ...['sh', '-euc', blankScript, 'sh', `${defaultRoot}/${filesystem}.img`],
      ...[filesystem, String(this.lease.loops.audit), blankSize],
    ];
    await this.#lab.exec(argv, { timeoutMs: copyTimeoutMs });
  }
}

/**
 * `$1` file, `$2` file system, `$3` loop device, `$4` size. The database takes clients from
 * anywhere; nobody but this machine's loopback can reach the nodes.
 * XFS as Linux 6.1 knows it: the guests' kernel refuses what a newer mkfs adds.
 */
const blankScript = `
  truncate -s "$4" "$1"
  case $2 in
    xfs) mkfs.xfs -q -c options=/usr/share/xfsprogs/mkfs/lts_6.1.conf "$1" ;;
    *) mkfs.$2 -q "$1" ;;
  esac
  losetup --direct-io=on "/dev/loop$3" "$1"
  mkdir -p /mnt/blank; mount "/dev/loop$3" /mnt/blank
  mount=/mnt/blank
  ${bareServer.makeBlank}
  umount /mnt/blank; losetup -d "/dev/loop$3"`;
