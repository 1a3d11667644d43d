/** What must hold of the driver whatever is called in whatever order, and whoever dies on the way. */
import type { PathStatus } from '../../lib/storage/csi/array-client.ts';
import { isHeld } from '../../lib/storage/csi/record.ts';
import type { DiskMode } from '../../lib/scenario/disks/index.ts';
import type { Strike } from '../support/steps.ts';
import { type CallName, cutAfterMs, type NodeName } from './csi-calls.ts';
import { type CsiWorld, heldGenerations, type Outcome } from './csi-world.ts';

/** Modes in which two nodes never have working paths mounted at once. */
const oneWriter: ReadonlySet<DiskMode> = new Set(['fenced', 'pending-while-busy', 'reservation']);
const fencing: ReadonlySet<DiskMode> = new Set(['fenced', 'pending-while-busy', 'ack-early']);

const outOfService = 'node.kubernetes.io/out-of-service';

/** A path through which the node writes. */
const writes = ({ state, claimed }: PathStatus): boolean => state === 'open' && claimed;

export class Rules {
  readonly #world: CsiWorld;
  readonly #mode: DiskMode;
  /** Since when generations must not write, in the array's nanoseconds. */
  readonly #fenced = new Map<number, number>();
  /** Generations whose detach was answered. */
  readonly #ended = new Set<number>();
  /** To whom each generation was given. */
  readonly #owners = new Map<string, string>();
  readonly broken: string[] = [];

  constructor(world: CsiWorld, mode: DiskMode) {
    this.#world = world;
    this.#mode = mode;
    world.steps.after = async () => {
      await world.look();
      this.#check();
    };
  }

  /** Calls, and holds the answer against the rules. */
  async call(
    name: CallName,
    node: NodeName,
    context?: Record<string, string>,
    strike?: Strike,
  ): Promise<Outcome> {
    const { record } = this.#world;
    const held = heldGenerations(record, node);
    const ended = new Set(this.#ended);
    const tainted = this.#tainted(node);
    const outcome = await this.#world.call(name, node, context, strike);
    if (outcome === 'lost' || !('answer' in outcome)) return outcome;
    if (name === 'publish') this.#published(node, outcome.answer, ended);
    if (name === 'unpublish') this.#unpublished(held, tainted && this.#tainted(node));
    return outcome;
  }

  /** Once nobody has a step to take, and all cuts that were to come have come. */
  async atRest(): Promise<void> {
    this.#world.array.clockNs += (cutAfterMs + 1000) * 1e6;
    await this.#world.look();
    if (!fencing.has(this.#mode)) return;
    for (const { node, generation } of this.#world.paths.filter(writes)) {
      const attachment = this.#world.record?.attachments.find(
        (each) => each.generation === generation,
      );
      // A detach that died half-way leaves it held: Kubernetes asks again.
      if (attachment !== undefined && isHeld(attachment)) continue;
      this.#say(`generation ${generation} of ${node} writes and is ${attachment?.state}`);
    }
  }

  #published(node: string, answer: unknown, ended: ReadonlySet<number>): void {
    const { generation } = (answer as { publishContext: { generation: string } }).publishContext;
    const owner = this.#owners.get(generation) ?? node;
    this.#owners.set(generation, owner);
    if (owner !== node) this.#say(`generation ${generation} of ${owner} was given to ${node}`);
    if (ended.has(Number(generation))) this.#say(`generation ${generation} came back`);
  }

  #unpublished(held: readonly number[], tainted: boolean): void {
    const isFence =
      fencing.has(this.#mode) || (this.#mode === 'fence-if-out-of-service' && tainted);
    const delayNs = this.#mode === 'ack-early' ? cutAfterMs * 1e6 : 0;
    for (const generation of held) {
      this.#ended.add(generation);
      if (isFence && !this.#fenced.has(generation)) {
        this.#fenced.set(generation, this.#world.array.clockNs + delayNs);
      }
    }
  }

  #check(): void {
    const writers = this.#world.paths.filter(writes);
    for (const { generation, node } of writers) {
      const sinceNs = this.#fenced.get(generation) ?? Infinity;
      if (this.#world.array.clockNs >= sinceNs) {
        this.#say(`generation ${generation} of ${node} writes although it is fenced`);
      }
    }
    const nodes = new Set(writers.map(({ node }) => node));
    if (oneWriter.has(this.#mode) && nodes.size > 1)
      this.#say(`${[...nodes].join()} write at once`);
    // Throws where a record can't be read, at whatever moment somebody looks.
    void this.#world.record;
  }

  #tainted(node: string): boolean {
    return this.#world.taints.get(node)?.includes(outOfService) ?? false;
  }

  #say(what: string): void {
    this.broken.push(`${what} (after step ${this.#world.steps.trace.length})`);
  }
}
