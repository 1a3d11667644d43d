/**
 * One node's way to the volume, as a loop device is on kind. Its link to the storage passes, stalls
 * (requests are held and answered in order once it passes again) or fails (each request is an I/O
 * error). A path that was cut stays cut, and what it held is refused.
 */
import { type LinkState, watchTimeoutMs } from '../../scenario/index.ts';

const watchTimeoutUs = watchTimeoutMs * 1000;

export interface PathOptions extends Pick<Path, 'node' | 'generation' | 'device'> {
  readonly link: LinkState;
  /** A disk that ignores flushes: what is written can be lost for as long as the path lives. */
  readonly volatile: boolean;
}

/** Called once: with true it is performed, with false it never will be. */
export type PathRequest = (passes: boolean) => void;

export class Path {
  readonly node: string;
  readonly generation: number;
  readonly device: string;
  /** The attachment is in force: a node may stage it. */
  published = true;
  mounted = false;
  bytesWritten = 0;
  /** Called once when it is cut. */
  onCut: (() => void) | undefined;
  /** What undoes the writes of a volatile path, in their order; absent where they are durable. */
  readonly undo: (() => void)[] | undefined;
  #link: LinkState;
  #cut = false;
  /** When it stops to count as a watcher of the image, once it is silent. */
  #watchEndsUs = Number.NEGATIVE_INFINITY;
  #held: PathRequest[] = [];

  constructor({ node, generation, device, link, volatile }: PathOptions) {
    this.node = node;
    this.generation = generation;
    this.device = device;
    this.#link = link;
    this.undo = volatile ? [] : undefined;
  }

  get cut(): boolean {
    return this.#cut;
  }

  /** Requests that wait for the link. */
  get held(): number {
    return this.#held.length;
  }

  /** Mounted, and its writes reach the disk. */
  get writes(): boolean {
    return this.mounted && !this.#cut && this.#link === 'pass';
  }

  watches(nowUs: number): boolean {
    return this.writes || nowUs < this.#watchEndsUs;
  }

  /** A clean unmount takes its watch back at once. */
  unmount(): void {
    this.mounted = false;
    this.#watchEndsUs = Number.NEGATIVE_INFINITY;
  }

  submit(request: PathRequest): void {
    if (this.#link === 'stall' && !this.#cut) this.#held.push(request);
    else request(this.#link === 'pass' && !this.#cut);
  }

  setLink(link: LinkState, nowUs: number): void {
    if (this.writes && link !== 'pass') this.#watchEndsUs = nowUs + watchTimeoutUs;
    this.#link = link;
    this.#submitHeld();
  }

  /** For ever. */
  sever(nowUs: number): void {
    if (this.#cut) return;
    if (this.writes) this.#watchEndsUs = nowUs + watchTimeoutUs;
    this.#cut = true;
    this.#submitHeld();
    this.onCut?.();
  }

  #submitHeld(): void {
    const held = this.#held;
    this.#held = [];
    for (const request of held) this.submit(request);
  }
}
