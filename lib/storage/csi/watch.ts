/** Looks at paths, mounts and the call logs over and over, and writes what changed since, one JSON object a line; times are of CLOCK_MONOTONIC, in ms. */
import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { linkStates, type LinkState } from '../../scenario/index.ts';
import { callSchema, type CallEntry, monotonicMs } from './grpc.ts';
import type { PathStatus } from './array-client.ts';
import type { Layout } from './layout.ts';
import { deviceIn, type MountEntry, parseMountInfo } from './devices.ts';
import { type StorageBackend, livePaths } from './paths.ts';

const at = { monoMs: z.number() };
const device = {
  volume: z.string(),
  node: z.string(),
  /** `/dev/loop128`, or `files` for a shared directory. */
  device: z.string(),
  /** The path's; 0 for a shared directory, which has none. */
  generation: z.number(),
};

export const watchLineSchema = z.discriminatedUnion('type', [
  /** The first line: what happens from now on is told. */
  z.object({ type: z.literal('watching'), ...at }),
  /** All was looked at just now, and told. */
  z.object({ type: z.literal('beat'), ...at }),
  /** The file system of a volume is mounted on the node, anywhere; or nowhere any more. */
  z.object({ type: z.enum(['mounted', 'unmounted']), ...at, ...device }),
  /** Bytes written through the path since it was opened. */
  z.object({ type: z.literal('written'), ...at, ...device, bytesWritten: z.number() }),
  z.object({ type: z.literal('cut'), ...at, ...device, bytesWritten: z.number() }),
  /** The node's way to the storage is another than before. Where nothing is said, it passes. */
  z.object({ type: z.literal('link'), ...at, node: z.string(), state: z.enum(linkStates) }),
  /** So many requests of the path wait for the link now. */
  z.object({ type: z.literal('held'), ...at, ...device, held: z.number() }),
  z.object({ type: z.literal('call'), entry: callSchema }),
  /** Something could not be looked at: the observations have a gap. */
  z.object({ type: z.literal('failure'), ...at, message: z.string() }),
]);
export type WatchLine = z.infer<typeof watchLineSchema>;

/** What may be written to its stdin: the nodes' processes, which change when a node boots. */
export const watchControlSchema = z.object({ nodes: z.record(z.string(), z.int().positive()) });

type Device = Pick<PathStatus, 'volume' | 'node' | 'device' | 'generation'>;
type Emit = (line: WatchLine) => void;

export class PathWatcher {
  /** First process of each node's container, as this process sees it. */
  nodes: ReadonlyMap<string, number> = new Map();
  readonly #backend: StorageBackend;
  readonly #emit: Emit;
  readonly #log: LogTail;
  /** Paths as they were last, by `volume/generation`. */
  readonly #paths = new Map<string, PathStatus>();
  readonly #links = new Map<string, LinkState>();
  /** Devices mounted, by `node/volume/generation`. */
  #mounted = new Map<string, Device>();
  /** What each node's kernel said last: most looks find the same. */
  readonly #mountInfo = new Map<string, { readonly text: string; readonly mounts: MountEntry[] }>();

  constructor(backend: StorageBackend, emit: Emit) {
    this.#backend = backend;
    this.#emit = emit;
    this.#log = new LogTail(backend.layout);
  }

  async look(): Promise<void> {
    const paths = await livePaths(this.#backend.array);
    // Under load the answer takes seconds: what it holds is no later than its end.
    const monoMs = monotonicMs();
    for (const path of paths) this.#lookAt(path, monoMs);
    this.#lookAtMounts(paths);
    for (const entry of this.#log.read()) this.#emit({ type: 'call', entry });
  }

  #lookAt(path: PathStatus, monoMs: number): void {
    const { volume, node, generation, bytesWritten, state, held, link } = path;
    const key = `${volume}/${generation}`;
    const known = this.#paths.get(key);
    const device = { monoMs, volume, node, generation, device: path.device };
    if (bytesWritten !== known?.bytesWritten) {
      this.#emit({ type: 'written', ...device, bytesWritten });
    }
    if (state === 'cut' && known?.state !== 'cut') {
      this.#emit({ type: 'cut', ...device, bytesWritten });
    }
    if (link !== (this.#links.get(node) ?? 'pass')) {
      this.#emit({ type: 'link', monoMs, node, state: link });
      this.#links.set(node, link);
    }
    if (held !== (known?.held ?? 0)) this.#emit({ type: 'held', ...device, held });
    this.#paths.set(key, path);
  }

  #lookAtMounts(paths: readonly PathStatus[]): void {
    const byDevice = new Map(paths.map((path) => [path.device, path]));
    const mounted = new Map<string, Device>();
    const monoMs = monotonicMs();
    for (const [node, pid] of this.nodes) {
      for (const mount of this.#mountsOf(node, pid)) {
        const found = sharedFolder(mount, node) ?? byDevice.get(deviceIn(mount) ?? '');
        if (found?.node !== node) continue;
        const { volume, device, generation } = found;
        mounted.set(`${node}/${volume}/${generation}`, { volume, node, device, generation });
      }
    }
    for (const [key, device] of this.#mounted) {
      if (!mounted.has(key)) this.#emit({ type: 'unmounted', monoMs, ...device });
    }
    for (const [key, device] of mounted) {
      if (!this.#mounted.has(key)) this.#emit({ type: 'mounted', monoMs, ...device });
    }
    this.#mounted = mounted;
  }

  /** None where there is no such process: the node is off, and what it had mounted is not. */
  #mountsOf(node: string, pid: number): MountEntry[] {
    // Synchronous, as the call logs are: ten looks a second cost a thread's hop each otherwise.
    const text = orElse('', () => readFileSync(`/proc/${pid}/mountinfo`, 'utf8'));
    const known = this.#mountInfo.get(node);
    if (known?.text === text) return known.mounts;
    const mounts = parseMountInfo(text);
    this.#mountInfo.set(node, { text, mounts });
    return mounts;
  }
}

function orElse<T>(instead: T, read: () => T): T {
  try {
    return read();
  } catch {
    return instead;
  }
}

/** A volume that nodes share by its files: a bind mount of its folder, or a file system over it. */
function sharedFolder({ root, source }: MountEntry, node: string): Device | undefined {
  const volume = [root, source].map((path) => folderOfFiles.exec(path)?.[1]).find(Boolean);
  return volume === undefined ? undefined : { volume, node, device: 'files', generation: 0 };
}

const folderOfFiles = /\/volumes\/([^/]+)\/files$/;

/** Reads what was added to the driver's call logs since the last look; what was there before is others'. */
class LogTail {
  readonly #layout: Layout;
  /** How far each call log was read. */
  readonly #offsets: Map<string, number>;

  constructor(layout: Layout) {
    this.#layout = layout;
    this.#offsets = new Map(this.#logs().map((path) => [path, statSync(path).size]));
  }

  /** Calls that ended since, in the order in which they came in. */
  read(): CallEntry[] {
    return this.#logs()
      .flatMap((path) => this.#tail(path))
      .toSorted((a, b) => a.monoMs - b.monoMs);
  }

  /** None before the first node has one. */
  #logs(): string[] {
    return orElse([], () => readdirSync(this.#layout.log))
      .filter((name) => /^csi-.*\.jsonl$/.test(name))
      .map((name) => join(this.#layout.log, name));
  }

  /** Whole lines only; the rest of a line is read when it is there. */
  #tail(path: string): CallEntry[] {
    const from = this.#offsets.get(path) ?? 0;
    const { size } = statSync(path);
    if (size <= from) return [];
    const buffer = readFrom(path, from, size - from);
    const end = buffer.lastIndexOf('\n') + 1;
    this.#offsets.set(path, from + end);
    const lines = buffer.toString('utf8', 0, end).split('\n');
    return lines.filter((line) => line !== '').map((line) => callSchema.parse(JSON.parse(line)));
  }
}

function readFrom(path: string, from: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  const file = openSync(path, 'r');
  try {
    return buffer.subarray(0, readSync(file, buffer, 0, bytes, from));
  } finally {
    closeSync(file);
  }
}
