/**
 * What a case's schedule is made of: both sides, what each does next, and the images of the volume.
 * Every wait is for an event; a time only says when to give up.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RealClock } from '../cluster/kind/real-clock.ts';
import type { ImageLabel } from '../history/events.ts';
import type { NodeName } from './host.ts';
import type { Served, Side } from './side.ts';

export interface StageOptions {
  readonly victim: Side;
  readonly successor: Side;
  readonly load: { readonly connections: number; readonly rate: number };
  readonly clock: RealClock;
  readonly signal: AbortSignal;
  /** Copies the volume as it is now. */
  readonly copy: (label: ImageLabel) => Promise<void>;
  /** Bytes that each side's path has written so far. */
  readonly written: () => Promise<Readonly<Record<NodeName, number>>>;
  readonly onStep: (step: string) => void;
}

/** When the volume was copied, ms on the run's clock. */
export interface TakenImage {
  readonly image: ImageLabel;
  readonly takenAtMs: number;
}

/** What each side had done when a step began. */
export interface Mark {
  readonly step: string;
  readonly atMs: number;
  readonly acked: Readonly<Record<NodeName, number>>;
  readonly bytesWritten: Readonly<Record<NodeName, number>>;
}

/** A server that lives and commits nothing for so long will not. */
const stuckMs = 60_000;
const pollMs = 50;
/** A look at the process costs a shell on the node. */
const lookEveryMs = 1_000;

export class Stage {
  readonly victim: Side;
  readonly successor: Side;
  readonly images: TakenImage[] = [];
  readonly marks: Mark[] = [];
  /** When the hand-over began: the successor asks for the volume, or the victim's power fails. */
  faultAtMs: number | undefined;
  /** How the successor got the volume; absent until it tried. */
  takeover: Served | undefined;
  /** Bytes that the victim's power loss took: acknowledged by the array and not flushed. */
  unflushedBytes: number | undefined;
  readonly #options: StageOptions;

  constructor(options: StageOptions) {
    this.#options = options;
    this.victim = options.victim;
    this.successor = options.successor;
  }

  /** The victim gets the empty volume: everything must work. */
  async serve(side: Side): Promise<void> {
    await this.#mark(`${side.name} starts`);
    const { ready, fsck, mountError } = await side.serve();
    if (ready !== true) throw new Error(`the ${side.name} does not serve: ${mountError ?? fsck}`);
  }

  /** The successor takes the volume, whatever the victim does. */
  async takeOver(): Promise<void> {
    await this.#mark('successor takes over');
    this.faultAtMs ??= this.#options.clock.nowMs();
    this.takeover = await this.successor.serve();
  }

  /** A side's client writes until it has so many commits more, or its server is dead or stuck. */
  async commits(side: Side, count: number, after?: 'and goes on'): Promise<void> {
    await this.#mark(`${side.name} writes`);
    const { load, clock, signal } = this.#options;
    const wanted = side.acked + count;
    let seen = side.acked;
    let seenAtMs = clock.nowMs();
    let lookAtMs = clock.nowMs() + lookEveryMs;
    side.write(load);
    while (side.acked < wanted && clock.nowMs() - seenAtMs < stuckMs) {
      await sleep(pollMs, undefined, { signal });
      if (side.acked > seen) [seen, seenAtMs] = [side.acked, clock.nowMs()];
      if (clock.nowMs() < lookAtMs) continue;
      if (!(await side.runs())) break;
      lookAtMs = clock.nowMs() + lookEveryMs;
    }
    if (after === undefined) await side.stopWriting();
  }

  /** Waits until a side's server and kernel have written all they had. */
  async settle(side: Side): Promise<void> {
    await this.#mark(`${side.name} settles`);
    await side.settle();
  }

  /** From now on, nothing of this side runs and nothing of it reaches the disk. */
  async hold(side: Side): Promise<void> {
    await side.hold();
    await this.#mark(`${side.name} is held`);
  }

  async release(side: Side): Promise<void> {
    await this.#mark(`${side.name} goes on`);
    await side.release();
  }

  async cut(side: Side): Promise<void> {
    await side.cut();
    await this.#mark(`${side.name} is cut off`);
  }

  async stop(side: Side): Promise<void> {
    await this.#mark(`${side.name} stops`);
    await side.stop();
  }

  async kill(side: Side): Promise<void> {
    await this.#mark(`${side.name} is killed`);
    await side.kill();
  }

  async losePower(side: Side): Promise<void> {
    await this.#mark(`${side.name} loses power`);
    this.faultAtMs = this.#options.clock.nowMs();
    this.unflushedBytes = await side.losePower();
  }

  /** Copies the volume while those that may still write it are paused. */
  async image(image: ImageLabel, paused: readonly Side[] = []): Promise<void> {
    for (const side of paused) await side.pause();
    await this.#mark(`${image} image`);
    const takenAtMs = this.#options.clock.nowMs();
    await this.#options.copy(image);
    this.images.push({ image, takenAtMs });
    for (const side of paused) await side.resume();
  }

  async #mark(step: string): Promise<void> {
    const { clock, written, onStep } = this.#options;
    onStep(step);
    const acked = { victim: this.victim.acked, successor: this.successor.acked };
    const atMs = Math.round(clock.nowMs());
    this.marks.push({ step, atMs, acked, bytesWritten: await written() });
  }
}
