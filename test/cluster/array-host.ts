/** A real array beside a container that uses its devices: the data path without Kubernetes. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { $ } from '../../lib/kind/engine/shell.ts';
import { startArray } from '../../lib/kind/disk/containers.ts';
import { markLab } from '../../lib/kind/ownership/labs.ts';
import {
  arrayAt,
  type ArrayPort,
  type OpenRequest,
  type PathStatus,
} from '../../lib/storage/csi/array-client.ts';
import { ensureImages } from '../../lib/kind/images/ensure.ts';
import { kubernetesDefault } from '../../lib/core/kubernetes.ts';

/** Far above all leases (lib/kind/ownership/lease.ts); each path of each host takes the next. */
const firstLoop = 5320;
let nextLoop = firstLoop;
export const volumeBytes = 64 * 2 ** 20;

/** One record of the raw log (log.go: 64 bytes of header, then 40 bytes each). */
export interface LogRecord {
  readonly op: number;
  readonly flags: number;
  readonly generation: number;
  readonly offset: number;
  readonly length: number;
  /** Where its bytes are in writes.data; undefined where they were not kept. */
  readonly dataOffset: number | undefined;
}

/** LOOP_CTL_REMOVE of linux/loop.h. */
const removeScript = `umount "/dev/loop$1" 2>/dev/null || true
  perl -e 'open F, "+<", "/dev/loop-control"; ioctl(F, 0x4C81, $ARGV[0] + 0)' "$1"`;

export class ArrayHost implements AsyncDisposable {
  readonly root: string;
  readonly array: ArrayPort;
  readonly #name: string;
  readonly #opened: OpenRequest[] = [];
  #stopped = false;

  private constructor(root: string) {
    this.root = root;
    this.#name = basename(root);
    this.array = arrayAt(join(root, 'array.sock'));
  }

  static async start(onProgress: (line: string) => void): Promise<ArrayHost> {
    const images = await ensureImages({
      source: 'auto',
      kubernetes: kubernetesDefault,
      onProgress,
    });
    const host = new ArrayHost(mkdtempSync(join(tmpdir(), 'forcedetach-array-')));
    const loops = { first: firstLoop, count: 100 };
    const labels = markLab({ folder: host.root, loops, tools: images.tools });
    await host.#startUser(images.tools, labels);
    const container = `${host.#name}-array`;
    const place = { container, source: host.root, root: host.root, labels };
    await startArray({ ...place, image: images.array });
    return host;
  }

  #startUser(image: string, labels: readonly string[]): Promise<unknown> {
    const flags = ['--detach', '--init', '--privileged', '--network', 'none', ...labels];
    const place = ['--name', `${this.#name}-user`, '--volume', `${this.root}:${this.root}`];
    const main = 'mount -t devtmpfs devtmpfs /dev && exec sleep infinity';
    return $`docker run ${flags} ${place} ${image} sh -c ${main}`.quiet();
  }

  /** Runs a shell script beside the array; `$1` … are its arguments. Resolves to its stdout. */
  async sh(script: string, ...args: (string | number)[]): Promise<string> {
    const argv = ['sh', '-euc', script, 'sh', ...args];
    const { stdout } = await $({ timeout: '60s' })`docker exec ${this.#name}-user ${argv}`.quiet();
    return stdout.trim();
  }

  /** A new volume of zeros. */
  volume(name: string): string {
    const folder = join(this.root, 'volumes', name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'disk.img'), '');
    truncateSync(join(folder, 'disk.img'), volumeBytes);
    return name;
  }

  disk(volume: string): Buffer {
    return readFileSync(join(this.root, 'volumes', volume, 'disk.img'));
  }

  /** Opens the volume's next path for the node, and resolves to its device. */
  async open(
    volume: string,
    node: string,
    options: Partial<Pick<OpenRequest, 'keepData' | 'flushes'>> = {},
  ): Promise<string> {
    const generation = 1 + this.#opened.filter((each) => each.volume === volume).length;
    const loop = nextLoop++;
    const how = { keepData: false, flushes: 'honest', ...options } as const;
    const request = { volume, node, generation, loop, ...how };
    this.#opened.push(request);
    return (await this.array.open(request)).device;
  }

  async path(volume: string, generation: number): Promise<PathStatus> {
    const found = (await this.array.status(volume)).find((each) => each.generation === generation);
    if (found === undefined) throw new TypeError(`no path ${generation} to ${volume}`);
    return found;
  }

  /** Waits until so many requests of the path are held. */
  async holds(volume: string, generation: number, held: number): Promise<void> {
    await eventually(async () => {
      const path = await this.path(volume, generation);
      if (path.held !== held) throw new TypeError(`${path.held} requests are held`);
    });
  }

  async log(volume: string): Promise<LogRecord[]> {
    await this.array.status(volume);
    const bytes = readFileSync(join(this.root, 'volumes', volume, 'writes.log'));
    const records: LogRecord[] = [];
    for (let at = 64; at < bytes.length; at += 40) {
      const dataOffset = bytes.readBigUInt64LE(at + 16);
      records.push({
        offset: Number(bytes.readBigUInt64LE(at + 8)),
        dataOffset: dataOffset === 2n ** 64n - 1n ? undefined : Number(dataOffset),
        length: bytes.readUInt32LE(at + 24),
        generation: bytes.readUInt32LE(at + 28),
        op: bytes.readUInt8(at + 32),
        flags: bytes.readUInt8(at + 33),
      });
    }
    return records;
  }

  /** The disk that the log and its data make out of zeros. */
  async replayed(volume: string): Promise<Buffer> {
    const disk = Buffer.alloc(volumeBytes);
    const records = await this.log(volume);
    const data = readFileSync(join(this.root, 'volumes', volume, 'writes.data'));
    for (const { op, offset, length, dataOffset } of records) {
      if (op === 4) disk.fill(0, offset, offset + length);
      else if (dataOffset !== undefined) data.copy(disk, offset, dataOffset, dataOffset + length);
    }
    return disk;
  }

  /** Loop devices of this host that are still there, and mounts of their file systems. */
  async leftovers(): Promise<string> {
    const names = this.#opened.map(({ loop }) => `loop${loop}`);
    return this.sh(
      'for name; do ls -d "/sys/block/$name" 2>/dev/null || true; grep "/dev/$name " /proc/self/mounts || true; done',
      ...names,
    );
  }

  /** SIGTERM, as an operator's `docker stop`. */
  async stopArray(): Promise<void> {
    this.#stopped = true;
    await $`docker stop ${this.#name}-array`.quiet();
  }

  /** Unmounts and closes everything that was opened. An array that was stopped removes no devices. */
  async closeAll(): Promise<void> {
    if (this.#stopped) {
      for (const { loop } of this.#opened) await this.sh(removeScript, loop);
      return;
    }
    for (const node of new Set(this.#opened.map((each) => each.node))) {
      await this.array.link({ node, state: 'pass' });
    }
    for (const { loop } of this.#opened) {
      await this.sh('umount --all-targets "/dev/loop$1" 2>/dev/null || true', loop);
    }
    for (const path of this.#opened) await this.array.close({ ...path, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.closeAll().finally(async () => {
      await $`docker rm --force ${this.#name}-user ${this.#name}-array`.quiet();
      rmSync(this.root, { recursive: true, force: true });
    });
  }
}

/** Repeats until it resolves, for at most 10 s. */
export async function eventually<T>(look: () => Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + 10_000;
  for (;;) {
    try {
      return await look();
    } catch (error) {
      if (performance.now() > giveUpAt) throw error;
      await sleep(20);
    }
  }
}
