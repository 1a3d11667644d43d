/** An array in memory, for tests: it keeps the promises of array-client.ts and moves no byte. */
import type { LinkState } from '../../lib/scenario/disk-kinds.ts';
import { InfrastructureError } from '../../lib/core/errors.ts';
import type {
  ArrayCopy,
  ArrayErrorCode,
  ArrayPort,
  PathCutRequest,
  LinkRequest,
  OpenRequest,
  PathName,
  PathStatus,
  PowerLossRequest,
  PathPowerLoss,
} from '../../lib/storage/csi/array-client.ts';

type Path = { -readonly [K in keyof PathStatus]: PathStatus[K] };

export class FakeArray implements ArrayPort {
  /** Its clock, in nanoseconds; tests set it on. */
  clockNs = 1e9;
  /** Called before each request is served, with its name: to count, hold or fail requests. */
  before: (request: keyof ArrayPort) => Promise<void> | void = () => undefined;
  /** Each request for a path, as it came. */
  readonly opened: OpenRequest[] = [];
  readonly #paths: Path[] = [];
  /** When a path is to be cut, by the path. */
  readonly #cutDueNs = new Map<Path, number>();
  /** Cut before they were ever opened. */
  readonly #fenced = new Set<string>();
  readonly #links = new Map<string, { state: LinkState; sinceNs: number }>();

  async open(request: OpenRequest): Promise<{ device: string }> {
    const { volume, node, generation, loop } = request;
    this.opened.push(request);
    await this.#begin('open');
    const known = this.#find(volume, generation);
    if (known?.cutNs !== undefined || this.#fenced.has(`${volume}/${generation}`)) {
      throw refused('PATH_CUT', `${volume} generation ${generation}`);
    }
    if (known?.state === 'open') return { device: known.device };
    if (this.#paths.some((path) => path.loop === loop && path.state !== 'closed')) {
      throw refused('LOOP_BUSY', `loop ${loop}`);
    }
    const path = known ?? this.#newPath({ volume, node, generation, loop });
    Object.assign(path, { state: 'open', bound: true });
    return { device: path.device };
  }

  async close({
    volume,
    generation,
    force = false,
  }: PathName & { readonly force?: boolean }): Promise<void> {
    await this.#begin('close');
    const path = this.#find(volume, generation);
    if (path === undefined || path.state === 'closed') return;
    if (path.claimed && !force) throw refused('PATH_BUSY', path.device);
    if (force) path.cutNs ??= this.clockNs;
    Object.assign(path, { state: 'closed', bound: false, held: 0 });
  }

  async cut({ volume, generation, how, afterMs = 0 }: PathCutRequest): Promise<void> {
    await this.#begin('cut');
    const path = this.#find(volume, generation);
    if (path === undefined) {
      this.#fenced.add(`${volume}/${generation}`);
      return;
    }
    // It leaves the node a way.
    if (how === 'connection') return;
    const dueNs = this.clockNs + afterMs * 1e6;
    this.#cutDueNs.set(path, Math.min(this.#cutDueNs.get(path) ?? Infinity, dueNs));
    this.#tick();
  }

  async losePower({ volume, node }: PowerLossRequest): Promise<PathPowerLoss> {
    await this.#begin('losePower');
    const lost = this.#paths.filter(
      (path) => path.volume === volume && path.node === node && path.state === 'open',
    );
    for (const path of lost) Object.assign(path, { state: 'cut', cutNs: this.clockNs });
    const unflushedBytes = lost.reduce((sum, path) => sum + path.unflushedBytes, 0);
    return { paths: lost.length, unflushedWrites: 0, unflushedBytes, kept: 0 };
  }

  async link({ node, state }: LinkRequest): Promise<void> {
    await this.#begin('link');
    this.#links.set(node, { state, sinceNs: this.clockNs });
    for (const path of this.#paths) if (path.node === node) this.#follow(path);
  }

  async status(volume?: string): Promise<readonly PathStatus[]> {
    await this.#begin('status');
    return this.#paths
      .filter((path) => volume === undefined || path.volume === volume)
      .map((path) => ({ ...path }));
  }

  async copy(): Promise<ArrayCopy> {
    await this.#begin('copy');
    return { bytes: 0, heldMs: 0 };
  }

  async ping(): Promise<{ version: string; clockNs: number }> {
    await this.#begin('ping');
    return { version: 'fake', clockNs: this.clockNs };
  }

  /** What a mount and its I/O would do to a path. */
  use(volume: string, generation: number, now: Partial<PathStatus>): void {
    Object.assign(this.#needed(volume, generation), now);
  }

  async #begin(request: keyof ArrayPort): Promise<void> {
    await this.before(request);
    this.#tick();
  }

  #tick(): void {
    for (const [path, dueNs] of this.#cutDueNs) {
      if (dueNs > this.clockNs) continue;
      path.cutNs ??= dueNs;
      if (path.state === 'open') path.state = 'cut';
    }
  }

  #newPath(named: Pick<Path, 'volume' | 'node' | 'generation' | 'loop'>): Path {
    const zeros = { held: 0, reads: 0, writes: 0, flushes: 0 };
    const bytes = { bytesWritten: 0, bytesRead: 0, unflushedBytes: 0 };
    const device = `/dev/loop${named.loop}`;
    const path: Path = {
      ...{ ...named, ...zeros, ...bytes, device },
      ...{ state: 'open', link: 'pass', openedNs: this.clockNs, bound: true, claimed: false },
    };
    this.#follow(path);
    this.#paths.push(path);
    return path;
  }

  #follow(path: Path): void {
    const { state, sinceNs } = this.#links.get(path.node) ?? { state: 'pass', sinceNs: 0 };
    path.link = state;
    if (state === 'pass') delete path.linkNs;
    else path.linkNs = sinceNs;
  }

  #find(volume: string, generation: number): Path | undefined {
    return this.#paths.find((path) => path.volume === volume && path.generation === generation);
  }

  #needed(volume: string, generation: number): Path {
    const path = this.#find(volume, generation);
    if (path === undefined) throw new TypeError(`${volume} has no generation ${generation}`);
    return path;
  }
}

const refused = (code: ArrayErrorCode, what: string): InfrastructureError =>
  new InfrastructureError(code, `${code}: ${what}`);
