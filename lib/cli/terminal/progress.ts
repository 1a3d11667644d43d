/** What a run is doing, for the terminal: live phases with clocks, plain lines without a TTY. */
import { DefaultRenderer, Listr, ListrLogger, ProcessOutput, type ListrTask } from 'listr2';
import type { Clock } from '../../clock.ts';
import { database } from '../../database/chosen.ts';
import { phaseNames, type PhaseName } from '../../history/events.ts';

export interface Progress {
  /** The run enters a phase. */
  phase(name: PhaseName): void;
  /** One line of news. */
  say(line: string): void;
  /** The fault began, on the run's clock: from now on both clocks are shown. */
  fault(atMs: number): void;
  /** From now on this is waited for, one clause; undefined: nothing that has a name. */
  wait(clause: string | undefined): void;
  /** No more phases; resolves when the terminal is free again. */
  end(): Promise<void>;
}

/** What each phase does, in its order. */
const phases: Readonly<Record<PhaseName, string>> = {
  prepare: `prepare the cluster, the volume and ${database.title}`,
  steady: 'steady state: writers on, all must be well',
  fault: 'fault',
  watch: 'remedy, and watch what Kubernetes does',
  'first-image': 'first image: what the database holds now',
  heal: 'heal',
  converge: 'converge: commits must come back',
  'second-image': 'second image: what it holds in the end',
  audit: 'audit both images',
  report: 'verdict and report',
};

/** Tells the run's own clock, which on the model runs faster than the wall's, as words. */
class Clocked {
  readonly #clock: Clock;
  #faultAtMs: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  fault(atMs: number): void {
    this.#faultAtMs = atMs;
  }

  protected time(): string {
    const nowMs = this.#clock.nowMs();
    const total = `${(nowMs / 1000).toFixed(0)} s`;
    if (this.#faultAtMs === undefined) return total;
    return `${total}, fault + ${((nowMs - this.#faultAtMs) / 1000).toFixed(0)} s`;
  }
}

/** Live where `stream` is a terminal, else one line per piece of news. Everything goes to `stream`. */
export const startProgress = (stream: NodeJS.WriteStream, clock: Clock): Progress =>
  stream.isTTY ? new LiveProgress(stream, clock) : new PlainProgress(stream, clock);

/** Without a terminal a wait is told again so often: a log that stands still looks like a hang. */
const againAfterMs = 60_000;

class PlainProgress extends Clocked implements Progress {
  readonly #stream: NodeJS.WriteStream;
  #again: NodeJS.Timeout | undefined;

  constructor(stream: NodeJS.WriteStream, clock: Clock) {
    super(clock);
    this.#stream = stream;
  }

  phase(name: PhaseName): void {
    this.say(`— ${phases[name]}`);
  }

  say(line: string): void {
    this.#stream.write(`[${this.time()}] ${line}\n`);
  }

  wait(clause: string | undefined): void {
    clearInterval(this.#again);
    if (clause === undefined) return;
    this.say(`waiting for ${clause}`);
    const again = (): void => this.say(`still waiting for ${clause}`);
    this.#again = setInterval(again, againAfterMs).unref();
  }

  end(): Promise<void> {
    clearInterval(this.#again);
    return Promise.resolve();
  }
}

/** What listr2 shows of one task. */
interface ShownTask {
  title: string;
  output: string;
}

/** listr2 asks whether stdout is a terminal, but this one writes to the stream it is given. */
class TerminalRenderer extends DefaultRenderer {
  static override nonTTY = true;
}

/** One task per phase; a phase's task ends when a later phase begins. */
class LiveProgress extends Clocked implements Progress {
  readonly #ends = phaseNames.map(() => Promise.withResolvers<void>());
  /** By phase; a phase's task appears a moment after the phase began. */
  readonly #shown = new Map<number, ShownTask>();
  /** News of the current phase from before its task appeared. */
  #waiting: string[] = [];
  readonly #done: Promise<unknown>;
  readonly #ticker: NodeJS.Timeout;
  #index = 0;
  #over = false;
  #awaited: string | undefined;

  constructor(stream: NodeJS.WriteStream, clock: Clock) {
    super(clock);
    const list = new Listr(
      phaseNames.map((name, index) => this.#task(name, index)),
      {
        registerSignalListeners: false,
        renderer: TerminalRenderer,
        rendererOptions: {
          collapseSkips: false,
          logger: new ListrLogger({
            useIcons: true,
            toStderr: [],
            processOutput: new ProcessOutput(stream, stream),
          }),
        },
      },
    );
    this.#done = list.run();
    this.#ticker = setInterval(() => this.#tick(), 1000);
  }

  #task(name: PhaseName, index: number): ListrTask {
    return {
      title: phases[name],
      rendererOptions: { outputBar: 3, persistentOutput: true },
      task: async (_, task): Promise<void> => {
        if (this.#index < index && this.#over) {
          task.skip();
          return;
        }
        this.#shown.set(index, task);
        this.#tick();
        if (index === this.#index) for (const line of this.#waiting.splice(0)) task.output = line;
        await this.#ends[index]?.promise;
      },
    };
  }

  /** The current phase's clock. */
  #tick(): void {
    const shown = this.#shown.get(this.#index);
    const name = phaseNames[this.#index];
    if (shown !== undefined && name !== undefined) {
      const what = this.#awaited === undefined ? phases[name] : `waiting for ${this.#awaited}`;
      shown.title = `${what} (${this.time()})`;
    }
  }

  wait(clause: string | undefined): void {
    this.#awaited = clause;
    this.#tick();
  }

  phase(name: PhaseName): void {
    this.wait(undefined);
    this.#index = phaseNames.indexOf(name);
    this.#waiting = [];
    for (const end of this.#ends.slice(0, this.#index)) end.resolve();
  }

  say(line: string): void {
    const shown = this.#shown.get(this.#index);
    if (shown === undefined) this.#waiting.push(line);
    else shown.output = line;
  }

  async end(): Promise<void> {
    clearInterval(this.#ticker);
    this.#tick();
    this.#over = true;
    for (const end of this.#ends) end.resolve();
    await this.#done;
  }
}
