/**
 * One image behind a loop device, mounted as the next node would. The mount makes the device and
 * takes it away (autoclear), so that no abort and no killed container leaves one behind.
 */
import { access, mkdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandEvidence } from '../../../checkers/evidence.ts';
import { devicePath, isBound } from '../../../csi/loop-device.ts';
import { cleanUpMountPoint } from '../../../csi/mounts.ts';
import type { CrashImage } from '../../../database/server-port.ts';
import { EvidenceError } from '../../../errors.ts';
import { mustRun, runTool, type CommandLimits } from '../../../database/audit/command.ts';

const mountTimeoutMs = 60_000;
const fsckTimeoutMs = 120_000;
/** A device that nobody has mounted any more is freed within moments. */
const freedTimeoutMs = 10_000;

/** LOOP_CTL_ADD of linux/loop.h. */
const addScript = `
  open F, "+<", "/dev/loop-control" or die "open: $!";
  ioctl(F, 0x4C80, $ARGV[0] + 0) or die "LOOP_CTL_ADD: $!"`;

export class CrashVolume implements CrashImage {
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
    const limits = this.#limits(mountTimeoutMs);
    await this.#makeNode(limits);
    await mkdir(this.mountPoint, { recursive: true });
    // XFS refuses a file system whose copy is mounted already: several states are worked on at once.
    const more = (await this.#type()) === 'xfs' ? ',nouuid' : '';
    const options = `loop=${devicePath(this.#loop)}${more}`;
    const argv = ['mount', '-o', options, this.#image, this.mountPoint];
    return whyNotMounted(await runTool(argv, limits));
  }

  /** `mount` takes a device that is there already. */
  async #makeNode(limits: CommandLimits): Promise<void> {
    const isThere = await access(devicePath(this.#loop)).then(
      () => true,
      () => false,
    );
    if (!isThere) await mustRun(['perl', '-e', addScript, String(this.#loop)], limits);
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

/** Throws where the machine had no loop device to give: the image is not to blame for that. */
export function whyNotMounted(mount: CommandEvidence): string | undefined {
  const { command, exitCode, output } = mount;
  if (exitCode === 0) return undefined;
  if (!output.includes('loop device')) return output;
  throw new EvidenceError('LOOP_FAILED', output, { command });
}
