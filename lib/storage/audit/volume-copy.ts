/**
 * The copy that an audit works on: made from the image, checked, attached to a loop device of its
 * own and mounted. The image itself is only read. Whatever happens, disposal leaves nothing behind.
 * A shared directory's image is a directory: its copy needs no device, no check and no mount.
 */
import { mkdir, rm, stat } from 'node:fs/promises';
import { type CommandEvidence, EvidenceError } from '../../core/index.ts';
import { filesystemUuidOf, identifyCopy } from '../csi/copy-label.ts';
import {
  devicePath,
  ensureKernelDevices,
  fileBehind,
  isBound,
  removeLoop,
  unbind,
  cleanUpMountPoint,
} from '../csi/devices.ts';
import type { CopyIdentity } from '../../history/index.ts';
import { mustRun, runTool, type CommandLimits } from './command.ts';

export interface VolumeCopyOptions {
  /** The image, immutable: a file, or a directory where the volume is one. */
  readonly image: string;
  /** Number of the loop device, leased to this cluster and used by audits only. */
  readonly loop: number;
  readonly signal: AbortSignal;
}

const copyTimeoutMs = 300_000;
const fsckTimeoutMs = 120_000;
const mountTimeoutMs = 60_000;
/** Tells an audit's copies from everything else that may be behind a loop device. */
const copySuffix = '.audit';

export class VolumeCopy implements AsyncDisposable {
  readonly path: string;
  /** Where the volume's files are once it is mounted. */
  readonly mountPoint: string;
  readonly isDirectory: boolean;
  readonly #image: string;
  readonly #loop: number;
  #isXfs = false;
  readonly #limits: (timeoutMs: number) => CommandLimits;

  private constructor({ image, loop, signal }: VolumeCopyOptions, isDirectory: boolean) {
    this.#image = image;
    this.path = `${image}${copySuffix}`;
    this.isDirectory = isDirectory;
    this.mountPoint = isDirectory ? this.path : `/tmp/forcedetach-audit-${loop}`;
    this.#loop = loop;
    this.#limits = (timeoutMs) => ({ timeoutMs, signal });
  }

  /** Copies the image; what an audit that was killed left on this loop number is cleared first. */
  static async make(options: VolumeCopyOptions): Promise<VolumeCopy> {
    const copy = new VolumeCopy(options, (await stat(options.image)).isDirectory());
    await ensureKernelDevices();
    await copy.#clearLeftovers();
    const how = ['--archive', '--no-target-directory', '--sparse=always'];
    await mustRun(['cp', ...how, options.image, copy.path], copy.#limits(copyTimeoutMs));
    if (!copy.isDirectory) copy.#isXfs = (await copy.#type()) === 'xfs';
    return copy;
  }

  /** Which copy of the volume this is; undefined where nobody labelled it. To be asked first. */
  identify(): Promise<CopyIdentity | undefined> {
    return identifyCopy(this.#image, this.path);
  }

  /**
   * Multiple mount protection takes the copy for a disk that another machine has mounted, and makes
   * each tool wait for tens of seconds: so the mark is cleared. Undefined where there is none.
   */
  async clearMountProtection(): Promise<CommandEvidence | undefined> {
    const asked = await runTool(['dumpe2fs', '-h', this.path], this.#limits(mountTimeoutMs));
    if (!/^Filesystem features:.*\bmmp\b/m.test(asked.output)) return undefined;
    const argv = ['tune2fs', '-f', '-E', 'clear_mmp', this.path];
    return runTool(argv, this.#limits(fsckTimeoutMs));
  }

  /** Replays the journal, as every mount would; only a mount can replay XFS's. */
  async replayJournal(): Promise<CommandEvidence> {
    if (!this.#isXfs) {
      const argv = ['e2fsck', '-y', '-E', 'journal_only', this.path];
      return runTool(argv, this.#limits(fsckTimeoutMs));
    }
    const mounted = await this.#bindAndMount();
    await this.#unmount();
    return mounted;
  }

  /** Full check, read-only. Only the exit code tells: wrong free counts are normal after a crash. */
  check(): Promise<CommandEvidence> {
    const argv = this.#isXfs ? ['xfs_repair', '-n', '-f'] : ['e2fsck', '-fn'];
    return runTool([...argv, this.path], this.#limits(fsckTimeoutMs));
  }

  filesystemUuid(): Promise<string | undefined> {
    return filesystemUuidOf(this.path);
  }

  /** Attaches and mounts the copy. Undefined when it is mounted, else why it can't be. */
  async mount(): Promise<string | undefined> {
    if (this.isDirectory) return undefined;
    const { exitCode, output } = await this.#bindAndMount();
    return exitCode === 0 ? undefined : output;
  }

  /** Unmounts, frees the loop device, removes the copy. Rejects where the device stays bound. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.isDirectory) await this.#unmount();
    await rm(this.path, { recursive: true, force: true });
    if (await isBound(this.#loop)) {
      throw new EvidenceError('AUDIT_LEFTOVER', `${devicePath(this.#loop)} is still bound`, {
        command: `losetup -d ${devicePath(this.#loop)}`,
      });
    }
  }

  async #bindAndMount(): Promise<CommandEvidence> {
    // An unbound device of the number may have another's settings left, such as its being read-only.
    await removeLoop(this.#loop);
    const device = devicePath(this.#loop);
    await mustRun(['losetup', '--direct-io=on', device, this.path], this.#limits(mountTimeoutMs));
    await mkdir(this.mountPoint, { recursive: true });
    // XFS refuses a second disk of one UUID on one kernel, and the nodes have the volume mounted.
    const type = this.#isXfs ? ['-t', 'xfs', '-o', 'nouuid'] : ['-t', 'ext4'];
    const argv = ['mount', ...type, device, this.mountPoint];
    const mounted = await runTool(argv, this.#limits(mountTimeoutMs));
    if (mounted.exitCode !== 0) await this.#assertInPlace(mounted);
    return mounted;
  }

  /** A mount that failed tells of the volume only where nobody took the copy's device or folder. */
  async #assertInPlace({ command, output }: CommandEvidence): Promise<void> {
    const folder = await stat(this.mountPoint).catch(() => undefined);
    if (folder !== undefined && (await fileBehind(this.#loop)) === this.path) return;
    const device = devicePath(this.#loop);
    const message = `${device} or ${this.mountPoint} was taken from the audit: ${output}`;
    throw new EvidenceError('AUDIT_DISTURBED', message, {
      command,
      hint: 'another process uses the same loop device',
    });
  }

  async #unmount(): Promise<void> {
    await cleanUpMountPoint(this.mountPoint);
    await unbind(this.#loop);
    // One with nothing behind it is given to whoever asks the kernel for any; a bound one is told of below.
    await removeLoop(this.#loop).catch(() => undefined);
  }

  async #type(): Promise<string | undefined> {
    const asked = ['blkid', '-p', '-s', 'TYPE', '-o', 'value', this.path];
    const { exitCode, output } = await runTool(asked, this.#limits(mountTimeoutMs));
    return exitCode === 0 && output !== '' ? output : undefined;
  }

  async #clearLeftovers(): Promise<void> {
    if (this.isDirectory) {
      await rm(this.path, { recursive: true, force: true });
      return;
    }
    await cleanUpMountPoint(this.mountPoint);
    const file = await fileBehind(this.#loop);
    if (file?.replace(/ \(deleted\)$/, '').endsWith(copySuffix) === true) await unbind(this.#loop);
  }
}
