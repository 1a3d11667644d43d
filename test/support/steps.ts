/**
 * Lets many processes take turns in single steps, in an order that is chosen from outside: the same
 * choices give the same run. A step is anything that others can see: a file, a program, a request.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

/** One life of a process. What is dead takes no further step, and hears no answer. */
export interface Life {
  readonly name: string;
  dead: boolean;
}

/** What happens to a call between two of its steps. */
export interface Strike {
  /** Steps of its own that it takes before. */
  readonly after: number;
  /** `kill` takes its whole process, `fail` only its next step, `pause` holds it up. */
  readonly kind: 'kill' | 'fail' | 'pause';
  /** Of others, while it pauses. Default: until all resume. */
  readonly steps?: number | undefined;
}

/** One call to a process. */
interface Call {
  readonly life: Life;
  taken: number;
  readonly strike: Strike | undefined;
  /** Total of steps from which on it goes on. */
  pausedUntil: number;
}

interface Step {
  readonly call: Call;
  readonly label: string;
  readonly take: () => void;
  readonly fail: () => void;
}

export class Steps {
  /** Called after each step. */
  after: () => Promise<void> | void = () => undefined;
  /** Called when a process dies. */
  died: (life: Life) => void = () => undefined;
  /** Called when nobody has a step to take; true where that let somebody go on. */
  idle: () => boolean = () => false;
  readonly trace: string[] = [];
  /** Calls that were struck. */
  struck = 0;
  readonly #current = new AsyncLocalStorage<Call>();
  readonly #choices: Iterator<number>;
  #pending: Step[] = [];
  #taken = 0;
  #isCalm = false;

  constructor(choices: readonly number[]) {
    this.#choices = choices.values();
  }

  /** Whose code runs now; undefined for the test's own. */
  get current(): Life | undefined {
    return this.#current.getStore()?.life;
  }

  as<T>(life: Life, work: () => T, strike?: Strike): T {
    return this.#current.run({ life, taken: 0, strike, pausedUntil: 0 }, work);
  }

  /** Resolves when it is this step's turn, with what the effect returns; never for the dead. */
  take<T>(label: string, effect: () => T, failure: (label: string) => Error = broken): Promise<T> {
    const call = this.#current.getStore();
    if (call === undefined) return Promise.resolve().then(effect);
    const { life } = call;
    return new Promise<T>((resolve, reject) => {
      if (life.dead) return;
      const take = (): void => {
        try {
          resolve(this.#current.run(call, effect));
        } catch (thrown) {
          reject(thrown);
        }
      };
      this.#pending.push({ call, label, take, fail: () => reject(failure(label)) });
    });
  }

  /** From now on nothing strikes. */
  calm(): void {
    this.#isCalm = true;
    this.resume();
  }

  kill(life: Life): void {
    life.dead = true;
    this.#pending = this.#pending.filter((step) => step.call.life !== life);
    this.trace.push(`${life.name} dies`);
    this.died(life);
  }

  /** Takes steps until nobody has one to take but who pauses; at most so many. */
  async run(limit = Number.POSITIVE_INFINITY): Promise<void> {
    await settled();
    for (let taken = 0; taken < limit; taken += 1) {
      const step = this.#choose();
      if (step === undefined && !this.idle()) return;
      if (step !== undefined) this.#take(step);
      await settled();
      await this.after();
    }
  }

  /** Whoever pauses goes on. */
  resume(): void {
    for (const { call } of this.#pending) call.pausedUntil = 0;
  }

  #choose(): Step | undefined {
    const awake = this.#pending.filter(({ call }) => call.pausedUntil <= this.#taken);
    if (awake.length === 0) return undefined;
    const step = awake[(this.#choices.next().value ?? 0) % awake.length];
    this.#pending = this.#pending.filter((each) => each !== step);
    return step;
  }

  #take(step: Step): void {
    this.#taken += 1;
    const { call, label } = step;
    const { after, kind, steps = Number.POSITIVE_INFINITY } = call.strike ?? { after: -1 };
    const struck = !this.#isCalm && call.taken === after ? kind : undefined;
    call.taken += 1;
    if (struck !== undefined) this.struck += 1;
    this.trace.push(`${call.life.name}: ${label}${struck === undefined ? '' : ` (${struck})`}`);
    if (struck === 'kill') this.kill(call.life);
    else if (struck === 'fail') step.fail();
    else if (struck === 'pause') {
      call.pausedUntil = this.#taken + steps;
      this.#pending.push(step);
    } else step.take();
  }
}

const broken = (label: string): Error => new Error(`injected: ${label}`);

/** Between steps there are only microtasks: all of them are over when this resolves. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
