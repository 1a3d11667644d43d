/** What a case's schedule is made of: both sides, the waits between, and the images of the volume. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RealClock } from '../cluster/kind/real-clock.ts';
import type { ImageLabel } from '../history/events.ts';
import type { Served, Side } from './side.ts';

export interface StageOptions {
  readonly victim: Side;
  readonly successor: Side;
  readonly load: { readonly connections: number; readonly rate: number };
  readonly clock: RealClock;
  readonly signal: AbortSignal;
  /** Copies the volume as it is now. */
  readonly copy: (label: ImageLabel) => Promise<void>;
  readonly onStep: (step: string) => void;
}

/** When the volume was copied, ms on the run's clock. */
export interface TakenImage {
  readonly image: ImageLabel;
  readonly takenAtMs: number;
}

/** So many times as long as planned is waited for a slow client. */
const patience = 6;

export class Stage {
  readonly victim: Side;
  readonly successor: Side;
  readonly images: TakenImage[] = [];
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
    this.#options.onStep(`${side.name} starts`);
    const { ready, fsck, mountError } = await side.serve();
    if (ready !== true) throw new Error(`the ${side.name} does not serve: ${mountError ?? fsck}`);
  }

  /** The successor takes the volume, whatever the victim does. */
  async takeOver(): Promise<void> {
    this.#options.onStep('the successor takes over');
    this.faultAtMs ??= this.#options.clock.nowMs();
    this.takeover = await this.successor.serve();
  }

  /**
   * Lets a side's client begin, and waits until it has as many commits as its rate gives in `ms`:
   * on a busy machine that takes longer. A side that does not serve gets `ms` and no more.
   */
  async write(side: Side, ms: number): Promise<void> {
    this.#options.onStep(`the ${side.name}'s client writes`);
    const { load, clock } = this.#options;
    const wanted = side.acked + (load.rate * ms) / 1000;
    const serves = side.name === 'victim' || this.takeover?.ready === true;
    const deadlineMs = clock.nowMs() + ms * (serves ? patience : 1);
    await side.write(load);
    while (clock.nowMs() < deadlineMs && side.acked < wanted) await this.wait(100);
  }

  async losePower(side: Side): Promise<void> {
    this.#options.onStep(`the ${side.name} loses power`);
    this.faultAtMs = this.#options.clock.nowMs();
    this.unflushedBytes = await side.losePower();
  }

  async wait(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#options.signal });
  }

  /** Copies the volume while those that may still write it are paused. */
  async image(image: ImageLabel, paused: readonly Side[] = []): Promise<void> {
    this.#options.onStep(`${image} image`);
    for (const side of paused) await side.pause();
    const takenAtMs = this.#options.clock.nowMs();
    await this.#options.copy(image);
    this.images.push({ image, takenAtMs });
    for (const side of paused) await side.resume();
  }
}
