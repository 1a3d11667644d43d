/** What a run is doing, for the terminal: a log of events, and under it on a TTY one live line. */
import { clearLine, cursorTo } from 'node:readline';
import type { Clock } from '../../core/index.ts';
import type { PhaseName } from '../../history/index.ts';

/** What a run waits for, one clause, and when it is due on the run's clock where that is known. */
export interface Wait {
  readonly clause: string;
  readonly dueAtMs?: number | undefined;
}

/** What each phase does, in its order. */
const phases: Readonly<Record<PhaseName, string>> = {
  prepare: 'prepare the cluster, the volume and the database',
  steady: 'steady state: writers on, the audit must pass',
  fault: 'fault',
  watch: 'remedy, and watch what Kubernetes does',
  'first-image': 'first image: copy the volume before the heal',
  heal: 'heal',
  converge: 'converge: a server must commit again',
  'second-image': 'second image: copy the volume after the heal',
  audit: 'audit both images',
  report: 'verdict and report',
};

/** Live where `stream` is a terminal, else a log alone. Everything goes to `stream`. */
export const startProgress = (stream: NodeJS.WriteStream, clock: Clock): LogProgress =>
  stream.isTTY ? new LiveProgress(stream, clock) : new LogProgress(stream, clock);

/** A log that stands still looks like a hang. */
const againAfterMs = 60_000;

/** What is later than this is late: timers are read by controllers that look every few seconds. */
const lateAfterMs = 10_000;

/** Times are the run's own, which on the model run faster than the wall's. */
export class LogProgress {
  protected readonly stream: NodeJS.WriteStream;
  protected current = '';
  readonly #clock: Clock;
  #faultAtMs: number | undefined;
  #again: NodeJS.Timeout | undefined;

  constructor(stream: NodeJS.WriteStream, clock: Clock) {
    this.stream = stream;
    this.#clock = clock;
  }

  /** The run enters a phase. */
  phase(name: PhaseName): void {
    this.wait(undefined);
    this.current = phases[name];
    this.say(`— ${phases[name]}`);
  }

  say(line: string): void {
    this.stream.write(`[${this.time()}] ${line}\n`);
  }

  /** The fault began, on the run's clock: from now on both clocks are shown. */
  fault(atMs: number): void {
    this.#faultAtMs = atMs;
  }

  /** Undefined: nothing that has a name. */
  wait(wait: Wait | undefined): void {
    clearInterval(this.#again);
    if (wait === undefined) return;
    this.say(this.waiting(wait));
    const again = (): void => this.say(`still ${this.waiting(wait)}`);
    this.#again = setInterval(again, againAfterMs).unref();
  }

  end(): void {
    clearInterval(this.#again);
  }

  protected waiting({ clause, dueAtMs = Infinity }: Wait): string {
    const lateMs = this.#clock.nowMs() - dueAtMs;
    const late = lateMs > lateAfterMs ? `; ${seconds(lateMs)} late` : '';
    return `waiting for ${clause}${late}`;
  }

  protected time(): string {
    const nowMs = this.#clock.nowMs();
    if (this.#faultAtMs === undefined) return seconds(nowMs);
    return `${seconds(nowMs)}, fault + ${seconds(nowMs - this.#faultAtMs)}`;
  }
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(0)} s`;

/** Events scroll by above one line, drawn again every second: the clock, and what is waited for. */
class LiveProgress extends LogProgress {
  readonly #ticker = setInterval(() => this.#draw(), 1000);
  #wait: Wait | undefined;

  override say(line: string): void {
    this.#clear();
    super.say(line);
    this.#draw();
  }

  override wait(wait: Wait | undefined): void {
    this.#wait = wait;
    this.#clear();
    this.#draw();
  }

  override end(): void {
    clearInterval(this.#ticker);
    this.#clear();
  }

  /** Cut to the width: a line that wraps could not be cleared. */
  #draw(): void {
    this.#clear();
    const what = this.#wait === undefined ? this.current : this.waiting(this.#wait);
    this.stream.write(`[${this.time()}] ${what}`.slice(0, this.stream.columns - 1));
  }

  #clear(): void {
    cursorTo(this.stream, 0);
    clearLine(this.stream, 0);
  }
}
