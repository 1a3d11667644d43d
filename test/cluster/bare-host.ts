/**
 * Machines without Kubernetes: one container as the lab, loop devices and mounts in it as the
 * nodes' disks, mysqld processes as pods, and the real writers through UNIX sockets.
 */
import { constants } from 'node:os';
import { join } from 'node:path';
import { createConnection } from 'mysql2/promise';
import type { Filesystem } from '../../lib/scenario/disk-kinds.ts';
import { type Lab, labIn } from '../../lib/kind/disk/containers.ts';
import { schemaStatements } from '../../lib/mysql/schema.ts';
import { ensureImages } from '../../lib/kind/images/ensure.ts';
import type { Lock } from '../../lib/core/owner.ts';
import {
  containerFor,
  lockLoops,
  removeHost,
  shared,
  startContainer,
  testLoops,
  type HostLoops,
} from './bare-lab.ts';
import { BareVolume, type BareDisk } from './bare-volume.ts';
import { ContainerShell } from './container-shell.ts';
import { kubernetesDefault } from '../../lib/core/kubernetes.ts';

/** Which one does not matter here: only the tools image is used. */
const signals = ['SIGINT', 'SIGTERM'] as const;

/** The container, with one blank database image that each case copies. */
export class BareHost implements AsyncDisposable {
  readonly lab: Lab;
  readonly #tools: string;
  readonly #folder: string;
  readonly #lock: Lock;
  readonly loops: HostLoops;
  readonly #shell: ContainerShell;

  private constructor(tools: string, folder: string, loops: HostLoops, lock: Lock) {
    this.#lock = lock;
    this.#tools = tools;
    this.#folder = folder;
    this.loops = loops;
    this.lab = labIn(containerFor(loops));
    this.#shell = new ContainerShell(containerFor(loops));
    for (const name of signals) process.on(name, this.#end);
  }

  /** An initialised database with the empty ledger, stopped cleanly. */
  get blank(): BareVolume {
    return new BareVolume(this, `${shared}/blank.img`);
  }

  /** `loops` are the host's alone while it runs; throws `LOOPS_BUSY` where another one has them. */
  static async start(
    onProgress: (line: string) => void,
    loops: HostLoops = testLoops,
  ): Promise<BareHost> {
    const lock = await lockLoops(loops);
    let host: BareHost;
    try {
      const { tools } = await ensureImages({
        source: 'auto',
        kubernetes: kubernetesDefault,
        onProgress,
      });
      const folder = await startContainer(loops, tools);
      host = new BareHost(tools, folder, loops, lock);
    } catch (error) {
      await lock.release();
      throw error;
    }
    try {
      await host.#makeBlank();
    } catch (error) {
      await host[Symbol.asyncDispose]();
      throw error;
    }
    return host;
  }

  /** Runs a shell script in the container; `$1` … are its arguments. Resolves to its stdout. */
  async sh(script: string, ...args: (string | number)[]): Promise<string> {
    return (await this.#shell.run(script, args)).trim();
  }

  /**
   * A copy of the blank image, under a name of its own: an inode that no loop device ever had.
   * What a case before it left running or mounted is taken away, as by `clear`.
   */
  async newVolume(name: string, filesystem: Filesystem = 'ext4'): Promise<BareVolume> {
    await this.clear();
    const path = `${shared}/${name}.img`;
    const blank = this.blank.path;
    if (filesystem === 'xfs') await this.#copyOntoXfs(blank, path);
    else await this.sh('cp --sparse=always "$1" "$2"', blank, path);
    if (filesystem === 'ext4-mmp') await this.sh('tune2fs -O mmp "$1"', path);
    return new BareVolume(this, path);
  }

  /** Takes the volume and its copy of the same label away: nothing of it is attached. */
  async removeVolume(name: string): Promise<void> {
    await this.sh('rm -f "$1" "$2"', `${shared}/${name}.img`, `${shared}/copies/${name}.img`);
  }

  /** The volume's files as a directory, which the auditor looks for as the copy of that label. */
  async copyFiles(disk: BareDisk, label: string): Promise<void> {
    const to = `${shared}/copies/${label}.files`;
    await this.sh('cp -aT "$1" "$2"', disk.mountPoint, to);
  }

  socket(name: string): { readonly inside: string; readonly outside: string } {
    return { inside: `${shared}/${name}.sock`, outside: join(this.#folder, `${name}.sock`) };
  }

  /** Begins an audit and ends it with that signal as soon as its first server starts. */
  async endAudit(label: string, seed: string, signal: string): Promise<void> {
    const tool = '/app/lib/mysql/audit/audit-tool.ts';
    const script = `node ${tool} --image "$1" --loop "$2" --run-seed "$3" > /tmp/audit.out & pid=$!
      until grep -q '"recovery"' /tmp/audit.out; do sleep 0.05; done; sleep 0.3
      kill -s "$4" $pid; wait $pid || true`;
    const image = `${shared}/copies/${label}.img`;
    await this.sh(script, image, this.loops.audit, seed, signal.replace('SIG', ''));
  }

  /** Loop device, mount, servers and copies of an audit, as far as there are any. */
  auditLeftovers(): Promise<string> {
    const script = `losetup -l | grep loop$1 || true; grep forcedetach-audit /proc/self/mounts || true
      pgrep -a mysqld || true; ls ${shared}/copies | grep audit || true`;
    return this.sh(script, this.loops.audit);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const name of signals) process.off(name, this.#end);
    this.#shell.close();
    try {
      await removeHost(this.loops, this.#tools);
    } finally {
      await this.#lock.release();
    }
  }

  /** A bench or a test that is ended leaves nothing; what a kill -9 leaves, the next start takes. */
  readonly #end = (name: NodeJS.Signals): void => {
    const exit = (): never => process.exit(128 + constants.signals[name]);
    this[Symbol.asyncDispose]().then(exit, exit);
  };

  /** Ends servers, unmounts, frees loop devices: all that a case may have left. */
  async clear(): Promise<void> {
    const script = `kill -KILL $(cat /tmp/a.main /tmp/b.main 2>/dev/null) 2>/dev/null || true; sleep 0.1
      for node in a b; do umount /mnt/$node 2>/dev/null || true; done
      for loop in "$@"; do losetup -d /dev/loop$loop 2>/dev/null || true; done`;
    await this.sh(script, ...Object.values(this.loops));
  }

  async #copyOntoXfs(from: string, to: string): Promise<void> {
    const script = `truncate -s 2G "$2"; mkfs.xfs -q "$2"; mkdir -p /mnt/a /mnt/b
      losetup --direct-io=on /dev/loop$3 "$1"; mount -o ro /dev/loop$3 /mnt/a
      losetup --direct-io=on /dev/loop$4 "$2"; mount /dev/loop$4 /mnt/b
      cp -a /mnt/a/. /mnt/b; umount /mnt/a /mnt/b; losetup -d /dev/loop$3 /dev/loop$4`;
    await this.sh(script, from, to, this.loops.a, this.loops.b);
  }

  /** An initialised data directory with the empty ledger on a file system of its own. */
  async #makeBlank(): Promise<void> {
    const volume = this.blank;
    await this.sh('truncate -s 2G "$1"; mke2fs -q -F -t ext4 "$1"', volume.path);
    const disk = await volume.attach('a');
    await this.sh(
      'mysqld --no-defaults --initialize-insecure --user=root --datadir="$1/data" --log-error=/tmp/i.err',
      disk.mountPoint,
    );
    const server = await disk.startServer();
    const connection = await createConnection({ socketPath: server.socketPath, user: 'root' });
    for (const statement of schemaStatements) await connection.query(statement);
    await connection.end();
    await server.stop();
    await disk.detach();
  }
}
