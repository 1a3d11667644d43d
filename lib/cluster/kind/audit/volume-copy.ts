/**
 * The copy that an audit works on: made from the image, checked, attached to a loop device of its
 * own and mounted. The image itself is only read. Whatever happens, disposal leaves nothing behind.
 */
import { mkdir, rm } from 'node:fs/promises';
import type { CommandEvidence } from '../../../checkers/evidence.ts';
import {
  bind,
  devicePath,
  ensureKernelDevices,
  isBound,
  unbind,
} from '../../../csi/loop-device.ts';
import { cleanUpMountPoint } from '../../../csi/mounts.ts';
import { EvidenceError } from '../../../errors.ts';
import { mustRun, runTool, type CommandLimits } from './command.ts';

export interface VolumeCopyOptions {
  /** The image, immutable. */
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
  readonly mountPoint: string;
  readonly #loop: number;
  readonly #limits: (timeoutMs: number) => CommandLimits;

  private constructor({ image, loop, signal }: VolumeCopyOptions) {
    this.path = `${image}${copySuffix}`;
    this.mountPoint = `/tmp/forcedetach-audit-${loop}`;
    this.#loop = loop;
    this.#limits = (timeoutMs) => ({ timeoutMs, signal });
  }

  /** Copies the image; what an audit that was killed left on this loop number is cleared first. */
  static async make(options: VolumeCopyOptions): Promise<VolumeCopy> {
    const copy = new VolumeCopy(options);
    await ensureKernelDevices();
    await copy.#clearLeftovers();
    await mustRun(['cp', '--sparse=always', options.image, copy.path], copy.#limits(copyTimeoutMs));
    return copy;
  }

  /** Replays the journal, as every mount would. */
  replayJournal(): Promise<CommandEvidence> {
    return runTool(['e2fsck', '-y', '-E', 'journal_only', this.path], this.#limits(fsckTimeoutMs));
  }

  /** Full check, read-only. Only the exit code tells: wrong free counts are normal after a crash. */
  check(): Promise<CommandEvidence> {
    return runTool(['e2fsck', '-fn', this.path], this.#limits(fsckTimeoutMs));
  }

  async filesystemUuid(): Promise<string | undefined> {
    const asked = ['blkid', '-p', '-s', 'UUID', '-o', 'value', this.path];
    const { exitCode, output } = await runTool(asked, this.#limits(mountTimeoutMs));
    return exitCode === 0 && output !== '' ? output : undefined;
  }

  /** Attaches and mounts the copy. Undefined when it is mounted, else why it can't be. */
  async mount(): Promise<string | undefined> {
    await bind(this.#loop, this.path);
    await mkdir(this.mountPoint, { recursive: true });
    const argv = ['mount', '-t', 'ext4', devicePath(this.#loop), this.mountPoint];
    const { exitCode, output } = await runTool(argv, this.#limits(mountTimeoutMs));
    return exitCode === 0 ? undefined : output;
  }

  /** Unmounts, frees the loop device, removes the copy. Rejects where the device stays bound. */
  async [Symbol.asyncDispose](): Promise<void> {
    await cleanUpMountPoint(this.mountPoint);
    await unbind(this.#loop);
    await rm(this.path, { force: true });
    if (await isBound(this.#loop)) {
      throw new EvidenceError('AUDIT_LEFTOVER', `${devicePath(this.#loop)} is still bound`, {
        command: `losetup -d ${devicePath(this.#loop)}`,
      });
    }
  }

  async #clearLeftovers(): Promise<void> {
    await cleanUpMountPoint(this.mountPoint);
    if (!(await isBound(this.#loop))) return;
    const asked = ['losetup', '--noheadings', '--output', 'BACK-FILE', devicePath(this.#loop)];
    const file = await mustRun(asked, this.#limits(mountTimeoutMs));
    // A deleted file is shown with a mark behind its name.
    if (file.replace(/ \(deleted\)$/, '').endsWith(copySuffix)) await unbind(this.#loop);
  }
}
