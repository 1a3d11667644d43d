/**
 * Machines without Kubernetes: one container as the lab, loop devices and mounts in it as the
 * nodes' disks, mysqld processes as pods, and the real writers through UNIX sockets.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { createConnection } from 'mysql2/promise';
import { $ } from 'zx';
import type { Filesystem } from '../../lib/disk-kinds.ts';
import { labIn } from '../../lib/cluster/kind/lab.ts';
import type { Lab } from '../../lib/cluster/kind/lab-port.ts';
import { schemaStatements } from '../../lib/cluster/kind/schema.ts';
import { InfrastructureError } from '../../lib/errors.ts';
import { ensureImages } from '../../lib/images/ensure.ts';
import { takeFreeLock, type Lock } from '../../lib/lock.ts';
import { BareServer } from './bare-server.ts';
import { ContainerShell } from './container-shell.ts';

/** Which one does not matter here: only the tools image is used. */
const kubernetesVersion = '1.34.4';
const appRoot = resolve(import.meta.dirname, '../..');
/** Where the lab sees the shared folder; the auditor looks for copies in it. */
const shared = '/var/lib/forcedetach';
/** Far above all leases (lib/cluster/kind/lease.ts), so that clusters beside the test don't matter. */
export const testLoops: HostLoops = { a: 5100, b: 5101, audit: 5102 };

/** Numbers of the loop devices of a host: the two nodes' and the audit's. */
export interface HostLoops {
  readonly a: number;
  readonly b: number;
  readonly audit: number;
}

/** What is missing for a bare host on this machine, if anything is. */
export async function missingForBareHost(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'needs root';
  const { exitCode } = await $`docker version`.quiet().nothrow();
  return exitCode === 0 ? undefined : 'needs a Docker engine that answers';
}

/** Two hosts with the same loops would detach each other's devices. */
function lockLoops(loops: HostLoops): Promise<Lock> {
  const name = `loops/${Object.values(loops).join('-')}`;
  return takeFreeLock(name, `process ${process.pid}`, (other, cause) => {
    const hint = 'one such test or bench at a time: wait for that one to end';
    return new InfrastructureError('LOOPS_BUSY', `${other} has the test's loops`, { hint, cause });
  });
}

/** From linux/loop.h. struct loop_info64 has 232 bytes; lo_sizelimit is the u64 at offset 32. */
const cutScript = `
  $b = "\\0" x 232;
  open F, "+<", $ARGV[0] or die "open: $!";
  ioctl(F, 0x4C05, $b) or die "LOOP_GET_STATUS64: $!";
  substr($b, 32, 8) = pack("Q<", 512);
  ioctl(F, 0x4C04, $b) or die "LOOP_SET_STATUS64: $!"`;

/** The container, with one blank database image that each case copies. */
export class BareHost implements AsyncDisposable {
  readonly lab: Lab;
  readonly #container: string;
  readonly #folder: string;
  readonly #lock: Lock;
  readonly loops: HostLoops;
  readonly #shell: ContainerShell;

  private constructor(container: string, folder: string, loops: HostLoops, lock: Lock) {
    this.#lock = lock;
    this.#container = container;
    this.#folder = folder;
    this.loops = loops;
    this.lab = labIn(container);
    this.#shell = new ContainerShell(container);
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
    const { tools: image } = await ensureImages({ source: 'auto', kubernetesVersion, onProgress });
    const folder = mkdtempSync(join(tmpdir(), 'fd-bare-'));
    mkdirSync(join(folder, 'copies'));
    const container = `forcedetach-${basename(folder)}`;
    const flags = [
      ...['--detach', '--init', '--name', container, '--label', 'forcedetach.test=audit'],
      ...['--privileged', '--network', 'none', '--entrypoint', 'sh'],
      ...['--volume', `${folder}:${shared}`, '--volume', `${appRoot}:/app:ro`],
    ];
    const main = 'mount -t devtmpfs devtmpfs /dev && exec sleep infinity';
    await $`docker run ${flags} ${image} -c ${main}`.quiet();
    const host = new BareHost(container, folder, loops, lock);
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
    const tool = '/app/lib/cluster/kind/audit/audit-tool.ts';
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
    await this.clear();
    this.#shell.close();
    await $`docker rm -f ${this.#container}`.quiet();
    rmSync(this.#folder, { recursive: true, force: true });
    await this.#lock.release();
  }

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

export class BareVolume {
  readonly #host: BareHost;
  readonly path: string;

  constructor(host: BareHost, path: string) {
    this.#host = host;
    this.path = path;
  }

  /** Puts the volume as it is where the auditor looks for the copy of that label. */
  async copy(label: string): Promise<BareVolume> {
    // A stopped process's kernel still writes back: only an undisturbed copy is one moment.
    const script = `written() { cat "/sys/block/loop$a/stat" "/sys/block/loop$b/stat" 2>/dev/null || true; }
      a=$3; b=$4
      for try in $(seq 20); do before=$(written); cp --sparse=always "$1" "$2"
      [ "$before" = "$(written)" ] && exit 0; sleep 0.25; done; exit 1`;
    const to = `${shared}/copies/${label}.img`;
    await this.#host.sh(script, this.path, to, this.#host.loops.a, this.#host.loops.b);
    return new BareVolume(this.#host, to);
  }

  /** A loop device of its own with direct I/O, checked and mounted, as NodeStage does. */
  async attach(node: 'a' | 'b'): Promise<BareDisk> {
    const mountPoint = `/mnt/${node}`;
    const script = `losetup --direct-io=on /dev/loop$1 "$2"; mkdir -p "$3"
      options=defaults; [ "$(blkid -p -s TYPE -o value "$2")" != xfs ] || options=nouuid
      fsck -a /dev/loop$1 || [ $? = 1 ]; mount -o $options /dev/loop$1 "$3"; mkdir -p "$3/canary"`;
    await this.#host.sh(script, this.#host.loops[node], this.path, mountPoint);
    return new BareDisk(this.#host, node, mountPoint);
  }
}

export class BareDisk {
  readonly mountPoint: string;
  readonly #host: BareHost;
  readonly #node: 'a' | 'b';

  constructor(host: BareHost, node: 'a' | 'b', mountPoint: string) {
    this.#host = host;
    this.#node = node;
    this.mountPoint = mountPoint;
  }

  startServer(...flags: string[]): Promise<BareServer> {
    return BareServer.start(this.#host, this.#node, this.mountPoint, flags);
  }

  /** Every later read and write fails: one sector is all that is left of the device. */
  async cut(): Promise<void> {
    await this.#host.sh('perl -e "$1" "$2"', cutScript, `/dev/loop${this.#host.loops[this.#node]}`);
  }

  async detach(): Promise<void> {
    await this.#host.sh(
      'umount "$1"; losetup -d /dev/loop$2',
      this.mountPoint,
      this.#host.loops[this.#node],
    );
  }
}
