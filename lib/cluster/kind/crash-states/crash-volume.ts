/**
 * One image behind a loop device, mounted as the next node would. The device frees itself with its
 * last mount, so that a killed container leaves none behind.
 */
import { mkdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandEvidence } from '../../../checkers/evidence.ts';
import { devicePath, isBound } from '../../../csi/loop-device.ts';
import { cleanUpMountPoint } from '../../../csi/mounts.ts';
import { EvidenceError } from '../../../errors.ts';
import { mustRun, runTool, type CommandLimits } from '../audit/command.ts';

const mountTimeoutMs = 60_000;
const fsckTimeoutMs = 120_000;
/** A device that nobody has mounted any more is freed within moments. */
const freedTimeoutMs = 10_000;

export class CrashVolume implements AsyncDisposable {
  readonly #image: string;
  readonly #loop: number;
  readonly #limits: (timeoutMs: number) => CommandLimits;
  readonly mountPoint: string;

  constructor(image: string, loop: number, signal: AbortSignal) {
    this.#image = image;
    this.#loop = loop;
    this.mountPoint = `/tmp/crash-state-${loop}`;
    this.#limits = (timeoutMs) => ({ timeoutMs, signal });
  }

  /** Replays the file system's journal by mounting it. Undefined when mounted, else why it can't be. */
  async mount(): Promise<string | undefined> {
    const device = devicePath(this.#loop);
    const limits = this.#limits(mountTimeoutMs);
    await mkdir(this.mountPoint, { recursive: true });
    await mustRun(['losetup', device, this.#image], limits);
    try {
      // XFS refuses a file system whose copy is mounted already: two states are worked on at once.
      const flags = (await this.#type()) === 'xfs' ? ['-o', 'nouuid'] : [];
      const { exitCode, output } = await runTool(
        ['mount', ...flags, device, this.mountPoint],
        limits,
      );
      return exitCode === 0 ? undefined : output;
    } finally {
      // Of a mounted device this only says that the unmount shall free it.
      await mustRun(['losetup', '-d', device], limits);
    }
  }

  /** Read-only check of the unmounted image. */
  async check(): Promise<CommandEvidence> {
    const tool = (await this.#type()) === 'xfs' ? ['xfs_repair', '-n'] : ['e2fsck', '-fn'];
    return runTool([...tool, this.#image], this.#limits(fsckTimeoutMs));
  }

  async unmount(): Promise<void> {
    await cleanUpMountPoint(this.mountPoint);
    const until = performance.now() + freedTimeoutMs;
    while (await isBound(this.#loop)) {
      if (performance.now() > until) {
        const device = devicePath(this.#loop);
        throw new EvidenceError('LOOP_STUCK', `${device} stays bound`, {
          command: `losetup -d ${device}`,
        });
      }
      await sleep(5);
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.unmount();
  }

  async #type(): Promise<string> {
    const asked = ['blkid', '-p', '-s', 'TYPE', '-o', 'value', this.#image];
    return (await runTool(asked, this.#limits(mountTimeoutMs))).output;
  }
}
