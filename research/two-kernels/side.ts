/**
 * One side of a case: a node with its own path to the volume, a server on it and a client that
 * writes. What is done here is what a kubelet and a pod would do, by the same scripts on both hosts;
 * what came of it is on record.
 */
import { observed, type Recorder } from '../../lib/history/index.ts';
import { mysql } from '../../lib/mysql/index.ts';
import { type Clock, waitFor, InfrastructureError } from '../../lib/core/index.ts';
import { killServers } from '../../lib/kind/index.ts';
import type { ArrayPort } from '../../lib/storage/index.ts';
import type { DatabaseChoice } from '../../lib/scenario/index.ts';
import type { LabClient } from './client.ts';
import type { ComparedFilesystem, Node, NodeName } from './host.ts';
import { labObserved, type LabServed } from './observations.ts';

const bareServer = await mysql.real.bare();

export interface SideOptions {
  readonly node: Node;
  readonly array: ArrayPort;
  readonly volume: string;
  /** Each side has a path of its own. */
  readonly generation: number;
  readonly loop: number;
  readonly filesystem: ComparedFilesystem;
  readonly trxCommit: DatabaseChoice['trxCommit'];
  readonly seed: string;
  readonly clock: Clock;
  readonly recorder: Recorder;
  readonly client: LabClient;
  /** Puts on record that a step of the schedule begins. */
  readonly onStep: (step: string) => Promise<void>;
  readonly signal: AbortSignal;
}

/** A server that lives and commits nothing for so long will not. */
const stuckMs = 60_000;
const pollMs = 50;
/** An emulated machine takes its time to give up what its server had. */
const killedWithinS = 60;
/** A look at the process costs a shell on the node. */
const lookEveryMs = 1_000;
const mountPoint = '/mnt/volume';
/**
 * Longer than the kernel waits before it writes by itself, so that a path that was quiet for so long
 * stays so: ext4's commit comes after 5 s, XFS' log worker each 30 s.
 */
const quietMs = { ext4: 6_000, xfs: 35_000 } as const;
const settleTimeoutMs = 300_000;

export class LabSide {
  readonly name: NodeName;
  readonly node: Node;
  readonly client: LabClient;
  readonly #options: SideOptions;
  #gone = false;

  constructor(options: SideOptions) {
    this.name = options.node.name;
    this.node = options.node;
    this.client = options.client;
    this.#options = options;
  }

  /** It gets the empty volume: everything must work. */
  async start(): Promise<void> {
    await this.#step('starts');
    const { ready, fsck, mountError } = await this.#serve();
    if (ready) return;
    const why = `the ${this.name} does not serve: ${mountError ?? fsck}`;
    throw new InfrastructureError('NOT_SERVED', why);
  }

  /** It takes the volume, whatever the other one does and whatever it finds. */
  async takeOver(): Promise<void> {
    await this.#step('takes over');
    await this.#serve();
  }

  async #serve(): Promise<LabServed> {
    const served = await this.#mountAndServe();
    this.#note('lab', labObserved.served, { ...served });
    return served;
  }

  /** Attaches, checks and mounts the volume and starts the server on it. Never throws for damage. */
  async #mountAndServe(): Promise<LabServed> {
    const { array, volume, generation, loop, node, trxCommit, signal } = this.#options;
    const path = { volume, generation, node: this.name, loop };
    const { device } = await array.open({ ...path, keepData: false, flushes: 'honest' });
    const disk = await node.attach(device);
    const checked = await this.#check(disk);
    const not = { ...checked, mounted: false, mountError: null, ready: false, died: false };
    // Kubernetes' own mount code refuses what fsck could not mend, and nothing else.
    if (checked.fsckExitCode === 4) return { ...not, startMs: null };
    const mountError = await this.#mount(disk);
    if (mountError !== undefined) return { ...not, mountError, startMs: null };
    this.#note('mounts', observed.mounted, { device: disk, volume, generation });
    const dataDirectory = `${mountPoint}/data`;
    const started = await bareServer.start(node, { dataDirectory, trxCommit, signal });
    return { ...not, mounted: true, ...started };
  }

  /** Its client writes until it has so many commits more, or the server is dead or stuck. */
  async commits(count: number, after?: 'and goes on'): Promise<void> {
    await this.#step('writes');
    const { clock, signal } = this.#options;
    const { client } = this;
    const wanted = client.acked + count;
    let seen = client.acked;
    let seenAtMs = clock.nowMs();
    let lookAtMs = clock.nowMs() + lookEveryMs;
    client.write();
    while (client.acked < wanted && clock.nowMs() - seenAtMs < stuckMs) {
      await clock.sleep(pollMs, signal);
      if (client.acked > seen) [seen, seenAtMs] = [client.acked, clock.nowMs()];
      if (clock.nowMs() < lookAtMs) continue;
      if (!(await this.#runs())) break;
      lookAtMs = clock.nowMs() + lookEveryMs;
    }
    if (after === undefined) await client.pause();
  }

  /**
   * Resolves once neither its server nor its kernel has anything left to write: no dirty page in the
   * pool, the file system synced, and its path quiet. Throws InfrastructureError `TIMED_OUT`.
   */
  async settle(): Promise<void> {
    await this.#step('settles');
    const { node, filesystem, clock } = this.#options;
    const options = { timeoutMs: settleTimeoutMs, everyMs: 500 };
    await waitFor({ ...options, what: `the ${this.name} has no dirty page` }, async () => {
      const dirty = (await bareServer.dirtyPages(node)) ?? ((await this.#runs()) ? 'unknown' : 0);
      return dirty === 0 || `${dirty} pages`;
    });
    await node.sh('sync --file-system "$1"', mountPoint);
    let writes = await this.#writes();
    let sinceMs = clock.nowMs();
    await waitFor({ ...options, what: `the ${this.name}'s path is quiet` }, async () => {
      const now = await this.#writes();
      if (now !== writes) [writes, sinceMs] = [now, clock.nowMs()];
      return clock.nowMs() - sinceMs >= quietMs[filesystem] || `${writes} writes`;
    });
  }

  /**
   * Paused, and its path held by the array: a shared kernel would go on with the write-back of a
   * paused container, a paused machine's does not.
   */
  async hold(): Promise<void> {
    await this.node.suspend();
    await this.#options.array.link({ node: this.name, state: 'stall' });
    await this.#step('is held');
  }

  async release(): Promise<void> {
    await this.#step('goes on');
    await this.#options.array.link({ node: this.name, state: 'pass' });
    await this.node.resume();
  }

  /** Cut off at the backend: each later request of its path is an I/O error. */
  async cut(): Promise<void> {
    const { array, volume, generation } = this.#options;
    await array.cut({ volume, generation, why: 'fence' });
    this.#note('devices', observed.deviceCut, { volume, generation });
    await this.#step('is cut off');
  }

  /** Power loss: what the node had only in its caches is gone, and what was not flushed too. */
  async losePower(): Promise<void> {
    await this.#step('loses power');
    const { array, volume, node, seed } = this.#options;
    const lost = await array.losePower({ volume, node: this.name, unflushed: 'drops', seed });
    await node.powerOff();
    this.#gone = true;
    this.#note('lab', labObserved.powerLost, { ...lost });
  }

  /** A clean end: the server shuts down, the volume is unmounted. What can't end so is killed. */
  async stop(): Promise<void> {
    await this.#step('stops');
    await bareServer.stop(this.#options.node);
    await this.#unmount();
  }

  /** The server is killed; the kernel goes on and unmounts. */
  async kill(): Promise<void> {
    await this.#step('is killed');
    await killServers(this.#options.node, mysql.server, killedWithinS);
    await this.#unmount();
  }

  /** Puts on record what its error log has of errors; null where the log went with the node. */
  async noteErrorLog(): Promise<void> {
    const lines = this.#gone ? null : await bareServer.errorLines(this.#options.node);
    this.#note('lab', labObserved.errorLog, { lines });
  }

  #runs(): Promise<boolean> {
    return bareServer.runs(this.#options.node);
  }

  #step(what: string): Promise<void> {
    return this.#options.onStep(`${this.name} ${what}`);
  }

  #note(source: string, name: string, data: Readonly<Record<string, unknown>>): void {
    this.#options.recorder.record({ type: 'note', source, name, node: this.name, data });
  }

  async #writes(): Promise<number> {
    const { array, volume, generation } = this.#options;
    const paths = await array.status(volume);
    return paths.find((path) => path.generation === generation)?.writes ?? 0;
  }

  async #check(disk: string): Promise<Pick<LabServed, 'fsckExitCode' | 'fsck'>> {
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
