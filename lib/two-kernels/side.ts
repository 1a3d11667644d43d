/**
 * One side of a case: a node with its own path to the volume, a server on it and a client that
 * writes. What is done here is what a kubelet and a pod would do, by the same scripts on both hosts.
 */
import type { WriterSpec } from '../workload/port.ts';
import { bareServer } from '../database/bare.ts';
import { databaseServer } from '../database/server.ts';
import type { BareStarted } from '../database/server-port.ts';
import type { RealClock } from '../cluster/kind/real-clock.ts';
import { waitFor } from '../cluster/kind/wait.ts';
import type { ArrayPort } from '../csi/array-port.ts';
import { runWriter, type WriterRecord } from '../workload/writer.ts';
import type { Filesystem } from './cases.ts';
import type { Node, NodeName } from './host.ts';

export interface SideOptions {
  readonly node: Node;
  readonly array: ArrayPort;
  readonly volume: string;
  /** Each side has a path of its own. */
  readonly generation: number;
  readonly loop: number;
  readonly filesystem: Filesystem;
  readonly trxCommit: 0 | 1 | 2;
  readonly seed: string;
  readonly clock: RealClock;
  /** Everything its client was told is put here. */
  readonly records: WriterRecord[];
  readonly signal: AbortSignal;
}

/** How a side got the volume and served; times from the beginning of `serve`. */
export interface Served extends Partial<BareStarted> {
  readonly fsckExitCode: number;
  readonly fsck: string;
  readonly mountError?: string;
  /** ms until it was mounted, on the run's clock. */
  readonly mountedAtMs?: number;
}

const mountPoint = '/mnt/volume';
/** As the server's clients are told apart: lib/workload/ledger.ts knows two. */
const clientOf = { victim: 'inside', successor: 'outside' } as const;
/**
 * Longer than the kernel waits before it writes by itself, so that a path that was quiet for so long
 * stays so: ext4's commit comes after 5 s, XFS' log worker each 30 s.
 */
const quietMs = { ext4: 6_000, xfs: 35_000 } as const;
const settleTimeoutMs = 300_000;
/** No client reconnects as often. */
const sessionsPerStart = 100_000;

export class Side implements AsyncDisposable {
  readonly name: NodeName;
  readonly #options: SideOptions;
  #gone = false;
  #acked = 0;
  #starts = 0;
  #writing: { readonly stop: AbortController; readonly done: Promise<void> } | undefined;

  constructor(options: SideOptions) {
    this.name = options.node.name;
    this.#options = options;
  }

  /** Attaches, checks and mounts the volume and starts the server on it. Never throws for damage. */
  async serve(): Promise<Served> {
    const { array, volume, generation, loop, node, clock } = this.#options;
    const path = { volume, generation, node: this.name, loop };
    const { device } = await array.open({ ...path, keepData: false, flushes: 'honest' });
    const disk = await node.attach(device);
    const checked = await this.#check(disk);
    // Kubernetes' own mount code refuses what fsck could not mend, and nothing else.
    if (checked.fsckExitCode === 4) return checked;
    const refused = await this.#mount(disk);
    if (refused !== undefined) return { ...checked, mountError: refused };
    const mountedAtMs = clock.nowMs();
    const started = await bareServer.start(node, {
      dataDirectory: `${mountPoint}/data`,
      trxCommit: this.#options.trxCommit,
      signal: this.#options.signal,
    });
    return { ...checked, mountedAtMs, ...started };
  }

  /** Commits that its clients were told of. */
  get acked(): number {
    return this.#acked;
  }

  /** Its client begins to write, unless it does. */
  write(load: Pick<WriterSpec, 'connections' | 'rate'>): void {
    if (this.#writing !== undefined) return;
    const { seed, clock, records, node } = this.#options;
    const stop = new AbortController();
    const done = runWriter({
      connector: {
        connect: () => databaseServer.connect({ port: node.databasePort, ...clientTimeouts }),
      },
      clock,
      journal: { append: (record) => records.push(record), flush: () => undefined },
      spec: { client: clientOf[this.name], ...load, seed: `${seed}/${this.name}` },
      seed,
      firstSession: this.#starts * sessionsPerStart,
      signal: stop.signal,
      onAck: () => {
        this.#acked += 1;
      },
    });
    this.#starts += 1;
    // An internal error is told by `stopWriting`.
    done.catch(() => undefined);
    this.#writing = { stop, done };
  }

  async stopWriting(): Promise<void> {
    const writing = this.#writing;
    this.#writing = undefined;
    writing?.stop.abort(new Error('stopped'));
    await writing?.done;
  }

  /** Its server's process is there. */
  runs(): Promise<boolean> {
    return bareServer.runs(this.#options.node);
  }

  /**
   * Resolves once neither its server nor its kernel has anything left to write: no dirty page in the
   * pool, the file system synced, and its path quiet. Throws InfrastructureError `TIMED_OUT`.
   */
  async settle(): Promise<void> {
    const { node, filesystem } = this.#options;
    const options = { timeoutMs: settleTimeoutMs, everyMs: 500 };
    await waitFor({ ...options, what: `the ${this.name} has no dirty page` }, async () => {
      const dirty = (await bareServer.dirtyPages(node)) ?? ((await this.runs()) ? 'unknown' : 0);
      return dirty === 0 || `${dirty} pages`;
    });
    await node.sh('sync --file-system "$1"', mountPoint);
    let writes = await this.#writes();
    let sinceMs = performance.now();
    await waitFor({ ...options, what: `the ${this.name}'s path is quiet` }, async () => {
      const now = await this.#writes();
      if (now !== writes) [writes, sinceMs] = [now, performance.now()];
      return performance.now() - sinceMs >= quietMs[filesystem] || `${writes} writes`;
    });
  }

  /**
   * Paused, and its path held by the array: a shared kernel would go on with the write-back of a
   * paused container, a paused machine's does not.
   */
  async hold(): Promise<void> {
    await this.pause();
    await this.#options.array.link({ node: this.name, state: 'stall' });
  }

  async release(): Promise<void> {
    await this.#options.array.link({ node: this.name, state: 'pass' });
    await this.resume();
  }

  pause(): Promise<void> {
    return this.#options.node.pause();
  }

  resume(): Promise<void> {
    return this.#options.node.resume();
  }

  /** Cut off at the backend: each later request of its path is an I/O error. */
  async cut(): Promise<void> {
    const { array, volume, generation } = this.#options;
    await array.cut({ volume, generation, why: 'fence' });
  }

  /** Power loss: what the node had only in its caches is gone, and what was not flushed too. */
  async losePower(): Promise<number> {
    const { array, volume, node, seed } = this.#options;
    const lost = await array.losePower({ volume, node: this.name, unflushed: 'drops', seed });
    await node.powerOff();
    this.#gone = true;
    return lost.unflushedBytes;
  }

  /** A clean end: the server shuts down, the volume is unmounted. What can't end so is killed. */
  async stop(): Promise<void> {
    await bareServer.stop(this.#options.node);
    await this.#unmount();
  }

  /** The server is killed; the kernel goes on and unmounts. */
  async kill(): Promise<void> {
    await bareServer.kill(this.#options.node);
    await this.#unmount();
  }

  /** What its error log has of errors; null where the log went with the node. */
  async errorLines(): Promise<string[] | null> {
    if (this.#gone) return null;
    return bareServer.errorLines(this.#options.node);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopWriting();
  }

  async #writes(): Promise<number> {
    const { array, volume, generation } = this.#options;
    const paths = await array.status(volume);
    return paths.find((path) => path.generation === generation)?.writes ?? 0;
  }

  async #check(disk: string): Promise<Pick<Served, 'fsckExitCode' | 'fsck'>> {
    const said = await this.#options.node.sh(
      'code=0; fsck -a "$1" >/tmp/fsck.out || code=$?; echo $code; tail -c 2000 /tmp/fsck.out',
      disk,
    );
    const [code = '', ...lines] = said.split('\n');
    return { fsckExitCode: Number(code), fsck: lines.join('\n') };
  }

  /** Undefined when it is mounted, else why not. */
  async #mount(disk: string): Promise<string | undefined> {
    const { filesystem, node } = this.#options;
    // One kernel refuses a second XFS of the same UUID; two kernels have nothing to refuse.
    const mode = filesystem === 'xfs' ? 'nouuid,defaults' : 'defaults';
    const script =
      'mkdir -p "$3"; mount -t "$1" -o "$2" "$4" "$3" 2>&1 || true; mountpoint -q "$3" || echo refused';
    const said = await node.sh(script, filesystem, mode, mountPoint, disk);
    return said.endsWith('refused') ? said : undefined;
  }

  async #unmount(): Promise<void> {
    await this.#options.node.sh('umount "$1" || umount -l "$1" || true', mountPoint);
  }
}

const clientTimeouts = { connectTimeoutMs: 5_000, operationTimeoutMs: 10_000 };
