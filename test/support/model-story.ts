/** A model without a testbed: one fault and one remedy by hand, and what happened, in seconds. */
import { combined } from '../../lib/scenario/index.ts';
import { Kernel } from '../../lib/sim/kernel.ts';
import { startModel, type Model, type ModelSize } from '../../lib/sim/model.ts';
import { notices } from '../../lib/sim/sightings.ts';
import { parseScenario, type ScenarioInput } from '../../lib/scenario/scenario.ts';
import { mysql } from '../../lib/mysql/database.ts';

export type NoticeName = keyof typeof notices;

/** The database is up by then. */
const readyAtS = 40;
const secondUs = 1_000_000;

export class ModelStory {
  readonly model: Model;
  /** Where the database ran first, and its pod. */
  readonly victim: string;
  readonly podUid: string;
  readonly #seen: { readonly notice: number; readonly node: number; readonly atS: number }[] = [];

  constructor(fields: Partial<ScenarioInput> = {}, seed = '1', size: ModelSize = {}) {
    const scenario = parseScenario(
      combined(
        {
          name: 'story',
          question: 'What?',
          fault: { kind: 'network-partition' },
          expected: ['safe'],
        },
        fields,
      ),
    );
    this.model = startModel(new Kernel(), scenario, seed, { ...size, database: mysql });
    const { kernel, world, api } = this.model;
    world.notice = (notice, node) =>
      this.#seen.push({ notice, node, atS: kernel.nowUs / secondUs - readyAtS });
    kernel.runUntil(readyAtS * secondUs);
    const pod = api.databasePod();
    if (pod?.node === undefined || !pod.ready) throw new Error('the database is not up');
    this.victim = pod.node.name;
    this.podUid = pod.uid;
  }

  get machine(): ReturnType<Model['machine']> {
    return this.model.machine(this.victim);
  }

  /** Seconds since the database was up: the time of all answers. */
  get nowS(): number {
    return this.model.kernel.nowUs / secondUs - readyAtS;
  }

  /** Runs until that time. */
  until(atS: number): this {
    this.model.kernel.runUntil((atS + readyAtS) * secondUs);
    return this;
  }

  /** Runs until it happens (after now); throws where it does not within the time. */
  untilSeen(name: NoticeName, withinS = 2000): this {
    const seen = this.#seen.length;
    const limitS = this.nowS + withinS;
    const happened = (): boolean =>
      this.#seen.slice(seen).some(({ notice }) => notice === notices[name]);
    while (!happened() && this.nowS < limitS) this.until(this.nowS + 0.05);
    if (!happened()) throw new Error(`no ${name} within ${withinS} s`);
    return this;
  }

  /** When it happened, each time, on the victim alone or on the others. */
  times(name: NoticeName, where?: 'victim' | 'others'): number[] {
    const victim = this.model.api.node(this.victim).index;
    return this.#seen
      .filter(({ notice, atS }) => notice === notices[name] && atS > 0)
      .filter(({ node }) => where === undefined || (where === 'victim') === (node === victim))
      .map(({ atS }) => atS);
  }

  /** The first mount elsewhere; undefined where there was none. */
  get secondMountS(): number | undefined {
    return this.times('mounted', 'others')[0];
  }
}

type Fields = Partial<ScenarioInput>;

/** A partition whose pod was evicted. */
export function evicted(fields: Fields = {}, seed?: string): ModelStory {
  const story = new ModelStory(fields, seed);
  story.machine.setConnected(false);
  return story.untilSeen('podTerminating');
}

/** The same, the pod force-deleted then. */
export function removed(fields: Fields = {}, seed?: string): ModelStory {
  const story = evicted(fields, seed);
  story.model.operator.forceDelete(story.podUid);
  return story;
}

/** What out-of-service means to Kubernetes. */
export const outOfService = {
  key: 'node.kubernetes.io/out-of-service',
  effect: 'NoExecute',
} as const;

/** The stock wait for a forced detach. */
export const waitS = 360;
