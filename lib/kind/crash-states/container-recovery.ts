/** Recovery of crash states inside a container of the tools image, with loop devices of its own. */
import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { mkdir, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type CommandEvidence, EvidenceError, randomStream } from '../../core/index.ts';
import {
  type Recovered,
  type Recovery,
  type PlannedState,
  type KeptWrites,
  type ByteRange,
  SectorVersions,
  type Survivor,
  survivors,
  VolatileCache,
  type CrashImage,
  type RecoverImage,
} from '../../run/index.ts';
import {
  devicePath,
  isBound,
  cleanUpMountPoint,
  type CommandLimits,
  mustRun,
  runTool,
} from '../../storage/index.ts';
import { writeOps, type WriteRecord } from '../../history/index.ts';

interface ContainerRecoveryOptions {
  readonly recoverImage: RecoverImage;
  readonly rolling: RollingImage;
  /** Numbers of loop devices that nobody else uses: one a worker. */
  readonly loops: readonly number[];
  /** Directory of the states' images, each about as large as what the database has written. */
  readonly directory: string;
  readonly runSeed: string;
  /** Keeps the image as the loss of power left it there. Default: it is gone after its reading. */
  readonly keepAt?: string | undefined;
  readonly signal: AbortSignal;
}

export function containerRecovery(options: ContainerRecoveryOptions): Recovery {
  const { recoverImage, rolling, loops, directory, runSeed, keepAt, signal } = options;
  const freeLoops = [...loops];
  /** The end of the last build: one at a time moves the rolling image on. */
  let built: Promise<unknown> = Promise.resolve();
  const build = (state: PlannedState, image: string): Promise<BuiltState> => {
    const building = built.then(async () => {
      if (keepAt !== undefined) await rolling.build(state, keepAt);
      return rolling.build(state, image);
    });
    built = building.catch(() => undefined);
    return building;
  };
  return {
    workers: loops.length,
    async recover(state, how) {
      const image = join(directory, `${state.number}.img`);
      const loop = freeLoops.pop();
      if (loop === undefined) throw new RangeError('more states at a time than workers');
      const startedMs = performance.now();
      try {
        const writes = await build(state, image);
        const buildMs = Math.round(performance.now() - startedMs);
        const volume = new CrashVolume(image, loop, signal);
        const evidence = await recoverImage({ volume, runSeed, signal, ...how });
        neededRoom(await statfs(directory));
        const durationsMs = { build: buildMs, ...evidence.durationsMs };
        return { ...writes, evidence: { ...evidence, durationsMs } };
      } finally {
        await rm(image, { force: true });
        freeLoops.push(loop);
      }
    },
  };
}

/** What a database may still write while its image is looked at. */
const roomBytes = 64 * 1024 ** 2;

/** Throws where the images' place is full: a recovery that ran out of room looks like a bad disk. */
export function neededRoom({ bavail, bsize }: Readonly<Record<'bavail' | 'bsize', number>>): void {
  const freeBytes = bavail * bsize;
  if (freeBytes >= roomBytes) return;
  throw new EvidenceError(
    'IMAGES_FULL',
    `only ${freeBytes} bytes are free for the images of the states`,
    {
      hint: 'they are kept in memory: examine fewer states at a time, or a shorter run',
    },
  );
}

const mountTimeoutMs = 60_000;
const fsckTimeoutMs = 120_000;
/** A device that nobody has mounted any more is freed within moments. */
const freedTimeoutMs = 10_000;

/** LOOP_CTL_ADD of linux/loop.h. */
const addScript = `
  open F, "+<", "/dev/loop-control" or die "open: $!";
  ioctl(F, 0x4C80, $ARGV[0] + 0) or die "LOOP_CTL_ADD: $!"`;

/**
 * One image behind a loop device, mounted as the next node would. The mount makes the device and
 * takes it away (autoclear), so that no abort and no killed container leaves one behind.
 */
class CrashVolume implements CrashImage {
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
    // `mount` takes a device that is there already.
    if (!existsSync(devicePath(this.#loop))) {
      await mustRun(['perl', '-e', addScript, String(this.#loop)], limits);
    }
    await mkdir(this.mountPoint, { recursive: true });
    // XFS refuses a file system whose copy is mounted already: several states are worked on at once.
    const more = (await this.#type()) === 'xfs' ? ',nouuid' : '';
    const options = `loop=${devicePath(this.#loop)}${more}`;
    const argv = ['mount', '-o', options, this.#image, this.mountPoint];
    const { exitCode, output } = await runTool(argv, limits);
    return exitCode === 0 ? undefined : output;
  }

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
        throw new EvidenceError('LOOP_STUCK', `${device} is still bound`, {
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
    const argv = ['blkid', '-p', '-s', 'TYPE', '-o', 'value', this.#image];
    return (await runTool(argv, this.#limits(mountTimeoutMs))).output;
  }
}

/** The data of the writes are unpacked. */
interface RollingImageOptions extends KeptWrites {
  /** Where the image goes; it must not be there yet. A sparse file system saves memory. */
  readonly path: string;
  /** What unflushed writes become is drawn from it. */
  readonly seed: string;
  readonly signal: AbortSignal;
}

type BuiltState = Omit<Recovered, 'evidence'>;

const copyTimeoutMs = 300_000;

export class RollingImage implements Disposable {
  readonly #options: RollingImageOptions;
  readonly #cache: VolatileCache;
  readonly #versions = new SectorVersions();
  readonly #data: number;
  readonly #image: number;

  constructor(options: RollingImageOptions) {
    const { log, dataPath, path } = options;
    this.#options = options;
    this.#cache = new VolatileCache(log);
    this.#data = openSync(dataPath, 'r');
    this.#image = openSync(path, 'wx');
    ftruncateSync(this.#image, log.sizeBytes);
  }

  /** Writes the image of that state to a new file. Positions must never go back. */
  async build({ position, policy }: PlannedState, to: string): Promise<BuiltState> {
    const { log, path, seed, signal } = this.#options;
    for (const index of this.#cache.advance(position)) {
      const { offset, length } = log.at(index);
      const parts = this.#versions.claim(index, { offset, length });
      this.#write(this.#image, path, index, parts);
    }
    await mustRun(['cp', '--sparse=auto', path, to], { timeoutMs: copyTimeoutMs, signal });
    const unflushed = this.#cache.unflushed();
    const random = randomStream(seed).stream(`${policy}/${position}`);
    const survived = survivors(policy, log, unflushed, random);
    this.#overlay(to, survived);
    return { unflushed: unflushed.length, survived: survived.length };
  }

  [Symbol.dispose](): void {
    closeSync(this.#image);
    closeSync(this.#data);
  }

  #overlay(path: string, survived: readonly Survivor[]): void {
    const file = openSync(path, 'r+');
    try {
      for (const { index, length } of survived) {
        const { offset } = this.#options.log.at(index);
        this.#write(file, path, index, this.#versions.unclaimed(index, { offset, length }));
      }
    } finally {
      closeSync(file);
    }
  }

  /** Puts these parts of the write into the file. */
  #write(file: number, path: string, index: number, parts: readonly ByteRange[]): void {
    const record = this.#options.log.at(index);
    for (const part of parts) {
      if (record.op === writeOps.zero) punchHole(path, part);
      else writeAll(file, this.#read(index, record, part), part.offset);
    }
  }

  #read(index: number, { offset, dataOffset }: WriteRecord, part: ByteRange): Buffer {
    const bytes = Buffer.allocUnsafe(part.length);
    const from = dataOffset === undefined ? undefined : dataOffset + part.offset - offset;
    if (from === undefined || readSync(this.#data, bytes, 0, part.length, from) < part.length) {
      throw new EvidenceError('WRITES_DAMAGED', `the data of write ${index} is missing`, {
        hint: 'the run needs --keep-writes and an orderly end',
      });
    }
    return bytes;
  }
}

/** Node can't, util-linux can. A disk zeroes rarely: mkfs, and lazily made inode tables. */
function punchHole(path: string, { offset, length }: ByteRange): void {
  const range = ['--offset', String(offset), '--length', String(length)];
  execFileSync('fallocate', ['--punch-hole', ...range, path]);
}

function writeAll(file: number, bytes: Buffer, offset: number): void {
  for (let at = 0; at < bytes.length; ) {
    at += writeSync(file, bytes, at, bytes.length - at, offset + at);
  }
}
