/** One schedule under way: the model, what was seen of it, and virtual time that passes on demand. */
import { type Model, msUs, type NodeMachine } from '../sim/index.ts';
import type { Scenario } from '../scenario/index.ts';
import { delayedOf, isSeen, type When } from '../core/index.ts';
import type { SweepClient, Commits } from './commits.ts';
import type { TraceRecorder } from './trace-recorder.ts';

interface Trigger {
  readonly isDue: () => boolean;
  readonly act: () => void;
}

interface Victim {
  readonly node: string;
  /** Its number in notices. */
  readonly index: number;
  /** The pod's. */
  readonly uid: string;
}

type SceneOptions = Pick<Scene, 'model' | 'scenario' | 'witness' | 'commits' | 'client' | 'victim'>;

export class Scene {
  readonly model: Model;
  readonly scenario: Scenario;
  readonly witness: TraceRecorder;
  readonly commits: Commits;
  readonly client: SweepClient;
  readonly victim: Victim;
  /** The fault was mended: it does not go on. */
  isHealed = false;
  /** When the fault began. */
  readonly faultAtUs: number;
  readonly #writers: WriterWatch;
  #triggers: Trigger[] = [];
  /** A timer of this scene rang: what waits for a time may be due. */
  #rang = false;

  constructor({ model, scenario, witness, commits, client, victim }: SceneOptions) {
    this.model = model;
    this.scenario = scenario;
    this.witness = witness;
    this.commits = commits;
    this.client = client;
    this.victim = victim;
    this.faultAtUs = model.kernel.nowUs;
    this.#writers = new WriterWatch(model);
  }

  get nowUs(): number {
    return this.model.kernel.nowUs;
  }

  /** How long two nodes could write so far. */
  get overlapUs(): number {
    return this.#writers.overlapUs;
  }

  /** The victim's machine. */
  get machine(): NodeMachine {
    return this.model.machine(this.victim.node);
  }

  /**
   * Acts once, as soon as the moment has come, unless the fault was mended before. Events are what they
   * are to the runner; at a time nothing happens that could be seen: a timer rings.
   */
  at(moment: When, act: () => void): void {
    const { witness, scenario, faultAtUs } = this;
    const unlessHealed = (): void => {
      if (!this.isHealed) act();
    };
    const { event, afterMs } = delayedOf(moment, scenario);
    if (event === undefined) {
      this.after(faultAtUs + afterMs * msUs - this.nowUs, unlessHealed);
      return;
    }
    const later = (): void => this.after(afterMs * msUs, unlessHealed);
    this.#triggers.push({ isDue: () => isSeen(event, witness), act: afterMs === 0 ? act : later });
    this.#rang = true;
  }

  after(delayUs: number, act: () => void): void {
    this.model.kernel.schedule(delayUs, () => {
      this.#rang = true;
      act();
    });
  }

  /** What still waits for a moment never acts. */
  dropTriggers(): void {
    this.#triggers = [];
  }

  /** Lets time pass until then, or until it is over; false at the deadline. */
  advance(untilUs: number, isOver: () => boolean = never): boolean {
    const { kernel } = this.model;
    const deadline = { passed: false };
    const timer = kernel.schedule(untilUs - this.nowUs, () => {
      deadline.passed = true;
    });
    let seen = -1;
    for (;;) {
      if (this.witness.changes !== seen || this.#rang) {
        seen = this.witness.changes;
        this.#rang = false;
        this.#fire();
        this.#writers.look();
        if (isOver()) {
          kernel.cancel(timer);
          return true;
        }
      }
      if (deadline.passed) return false;
      kernel.step();
    }
  }

  #fire(): void {
    for (const trigger of this.#triggers) {
      if (!trigger.isDue()) continue;
      this.#triggers = this.#triggers.filter((each) => each !== trigger);
      trigger.act();
    }
  }
}

const never = (): boolean => false;

/** Who could write when: for how long two nodes could at once. */
class WriterWatch {
  readonly #model: Model;
  #sinceUs: number | undefined;
  #totalUs = 0;

  constructor(model: Model) {
    this.#model = model;
  }

  get overlapUs(): number {
    const openUs = this.#sinceUs === undefined ? 0 : this.#model.kernel.nowUs - this.#sinceUs;
    return this.#totalUs + openUs;
  }

  /** Takes note of how things stand now. */
  look(): void {
    const { nowUs } = this.#model.kernel;
    if (this.#twoWrite()) this.#sinceUs ??= nowUs;
    else if (this.#sinceUs !== undefined) {
      this.#totalUs += nowUs - this.#sinceUs;
      this.#sinceUs = undefined;
    }
  }

  /** The disk would take writes of two nodes. One that stands still comes back. */
  #twoWrite(): boolean {
    const { volume } = this.#model;
    // Locks that all nodes share let one server in at a time.
    if (volume.files === 'shared') return false;
    let first: string | undefined;
    for (const path of volume.paths) {
      if (!path.writes || path.node === first) continue;
      if (first !== undefined) return true;
      first = path.node;
    }
    return false;
  }
}
