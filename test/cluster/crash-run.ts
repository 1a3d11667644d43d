/**
 * A real run without Kubernetes: mysqld on a file system over the array, the real writer, and the
 * history that such a run leaves, with all its writes.
 */
import { combined } from '../../lib/scenario/index.ts';
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection } from 'mysql2/promise';
import { $ } from '../../lib/kind/engine/shell.ts';
import { startArray } from '../../lib/kind/disk/containers.ts';
import { markLab } from '../../lib/kind/ownership/labs.ts';
import { realClock } from '../../lib/core/time.ts';
import { schemaStatements } from '../../lib/mysql/schema.ts';
import { arrayAt } from '../../lib/storage/csi/array-client.ts';
import { exportWrites } from '../../lib/storage/csi/export-writes.ts';
import { imagePath, layoutOf } from '../../lib/storage/csi/layout.ts';
import type { ScenarioInput } from '../../lib/scenario/scenario.ts';
import { openRecorder } from '../../lib/history/recorder.ts';
import { Segment } from '../../lib/history/segment.ts';
import { runRecord } from '../support/run-record.ts';
import { BareServer, type Shell } from './bare-server.ts';

export interface CrashRunOptions {
  readonly images: { readonly tools: string; readonly array: string };
  /** The run's folder; it is made. */
  readonly folder: string;
  readonly scenario: Pick<ScenarioInput, 'database' | 'disk' | 'volume' | 'load'>;
  /** More flags of mysqld. Default: none. */
  readonly mysqldFlags?: readonly string[];
  /** How long the writer writes. */
  readonly writeMs: number;
  readonly seed: string;
}

const sizeBytes = 2 * 1024 ** 3;
/** Beside those of bare hosts (bare-lab.ts, 5100 to 5122), above all leases. */
const loop = 5130;
const volume = 'v1';
const path = { volume, node: 'a', generation: 1, loop };

/** Makes the run and leaves its folder; containers, device and volume are gone afterwards. */
export async function makeCrashRun(options: CrashRunOptions): Promise<void> {
  const { images, folder, scenario: fields, writeMs, seed, mysqldFlags = [] } = options;
  const originNs = process.hrtime.bigint();
  const clock = realClock(originNs);
  const about = {
    name: 'bare-run',
    fault: { kind: 'node-crash' },
    disk: { keepWrites: true },
  } as const;
  const run = runRecord(combined(about, fields), { runId: seed, seed });
  mkdirSync(folder, { recursive: true });
  const recorder = openRecorder(folder, clock);
  recorder.record(run);
  recorder.close();
  await using host = await ArrayHost.start(images);
  await host.open(fields.disk?.flushes ?? 'honest');
  const { load, database, volume } = run.scenario;
  const commit = `--innodb-flush-log-at-trx-commit=${database.trxCommit}`;
  const server = await host.startServer(volume.filesystem, [commit, ...mysqldFlags]);
  const writer = server.write(
    { client: 'inside', connections: load.connections, rate: 'max' },
    seed,
    clock,
  );
  await sleep(writeMs);
  await writer.stop();
  const directory = join(folder, 'history');
  const segment = new Segment({ directory, name: 'writer-inside-0', client: 'inside' });
  for (const record of writer.records) segment.append(record);
  segment.close();
  await host.exportTo(directory, originNs);
}

class ArrayHost implements Shell, AsyncDisposable {
  /** Array and lab share it, at the same path in both and on this machine. */
  readonly #root = mkdtempSync(join(tmpdir(), 'fd-crash-'));
  readonly #lab = `forcedetach-${basename(this.#root)}-lab`;
  readonly #array = `forcedetach-${basename(this.#root)}-array`;

  static async start(images: CrashRunOptions['images']): Promise<ArrayHost> {
    const host = new ArrayHost();
    try {
      await host.#start(images);
      return host;
    } catch (error) {
      await host[Symbol.asyncDispose]();
      throw error;
    }
  }

  async #start(images: CrashRunOptions['images']): Promise<void> {
    const root = this.#root;
    const disk = imagePath(layoutOf(root), volume);
    mkdirSync(join(disk, '..'), { recursive: true });
    execFileSync('truncate', ['--size', String(sizeBytes), disk]);
    const { array: image } = images;
    const labels = markLab({ folder: root, loops: { first: loop, count: 1 }, tools: images.tools });
    await startArray({ container: this.#array, image, source: root, root, labels });
    const shared = ['--privileged', '--network', 'none', '--volume', `${root}:${root}`, ...labels];
    const app = `${resolve(import.meta.dirname, '../..')}:/app:ro`;
    const main = 'mount -t devtmpfs devtmpfs /dev && exec sleep infinity';
    await $`docker run --detach --init --name ${this.#lab} ${shared} --volume ${app} --entrypoint sh ${images.tools} -c ${main}`.quiet();
  }

  async sh(script: string, ...args: (string | number)[]): Promise<string> {
    const { stdout } = await $`docker exec ${this.#lab} sh -euc ${script} sh ${args}`.quiet();
    return stdout.trim();
  }

  socket(name: string): { readonly inside: string; readonly outside: string } {
    const socket = join(this.#root, `${name}.sock`);
    return { inside: socket, outside: socket };
  }

  async open(flushes: 'honest' | 'ignored'): Promise<void> {
    await arrayAt(join(this.#root, 'array.sock')).open({ ...path, keepData: true, flushes });
  }

  /** An initialised data directory with the empty ledger on a new file system, and its server. */
  async startServer(filesystem: string, flags: readonly string[]): Promise<BareServer> {
    const mkfs = { xfs: 'mkfs.xfs -q', 'ext4-mmp': 'mke2fs -q -F -t ext4 -O mmp' }[filesystem];
    const script = `$1 /dev/loop$2; mkdir -p /mnt/a; mount /dev/loop$2 /mnt/a
      mysqld --no-defaults --initialize-insecure --user=root --datadir=/mnt/a/data --log-error=/tmp/i.err`;
    await this.sh(script.replace('$1', mkfs ?? 'mke2fs -q -F -t ext4'), '', loop);
    const server = await BareServer.start(this, 'a', '/mnt/a', flags);
    const connection = await createConnection({ socketPath: server.socketPath, user: 'root' });
    for (const statement of schemaStatements) await connection.query(statement);
    await connection.end();
    return server;
  }

  /** The volume's writes until now, as a run exports them. */
  async exportTo(directory: string, originNs: bigint): Promise<void> {
    // The array writes its log every 100 ms, and at each such question.
    await arrayAt(join(this.#root, 'array.sock')).status();
    const request = { volume, label: 'run', originNs };
    const { folder, files } = await exportWrites(layoutOf(this.#root), request);
    for (const { name } of files) copyFileSync(join(folder, name), join(directory, name));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const clear = `kill -KILL $(cat /tmp/a.main) 2>/dev/null || true; sleep 0.2
      umount /mnt/a || true`;
    await $`docker exec ${this.#lab} sh -c ${clear}`.quiet().nothrow();
    await arrayAt(join(this.#root, 'array.sock'))
      .close({ volume, generation: path.generation, force: true })
      .catch(() => undefined);
    await $`docker rm --force ${this.#lab} ${this.#array}`.quiet().nothrow();
    rmSync(this.#root, { recursive: true, force: true });
  }
}
