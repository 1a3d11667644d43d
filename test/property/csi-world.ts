/** The driver's services on three nodes over one array, all in memory, with what must hold of them. */
import { status } from '@grpc/grpc-js';
import { grpcCodeOf, messageOf } from '../../lib/storage/csi/grpc.ts';
import { recordPath } from '../../lib/storage/csi/layout.ts';
import { registerNode } from '../../lib/storage/csi/controller.ts';
import { losePower, type StorageBackend, releaseNode } from '../../lib/storage/csi/paths.ts';
import { isHeld, recordSchema, type VolumeRecord } from '../../lib/storage/csi/record.ts';
import type { PathStatus } from '../../lib/storage/csi/array-client.ts';
import type { DiskMode } from '../../lib/scenario/disks/index.ts';
import { FakeArray } from '../support/fake-array.ts';
import { FakeMachine } from '../support/fake-machine.ts';
import {
  type CallName,
  layout,
  loops,
  newServices,
  type NodeName,
  nodes,
  type Services,
  volume,
} from './csi-calls.ts';
import { type Life, Steps, type Strike } from '../support/steps.ts';

/** How a call ended: its answer, its error's code, or nothing since its process died. */
export type Outcome =
  | { readonly answer: unknown }
  | { readonly code: string; readonly message: string }
  | 'lost';

export interface WorldOptions {
  readonly mode: DiskMode;
  /** Which of the waiting steps comes next, by its place among them. */
  readonly choices: readonly number[];
}

export class CsiWorld {
  readonly array = new FakeArray();
  readonly machine: FakeMachine;
  readonly steps: Steps;
  /** Every publish context that a node was ever told, the latest last. */
  readonly contexts = new Map<string, Record<string, string>[]>();
  readonly taints = new Map<string, string[]>();
  readonly off = new Set<string>();
  /** After the last step. */
  paths: readonly PathStatus[] = [];
  #read: { readonly text?: string | undefined; readonly record?: VolumeRecord | undefined } = {};
  readonly #mode: DiskMode;
  readonly #lives = new Map<string, Life>();
  readonly #services = new Map<Life, Services>();

  constructor({ mode, choices }: WorldOptions) {
    this.#mode = mode;
    this.steps = new Steps(choices);
    const open = (device: string): PathStatus | undefined =>
      this.paths.find((path) => path.device === device && path.state === 'open');
    this.machine = new FakeMachine(this.steps, {
      volumeOf: (device) => open(device)?.volume,
      isBound: (loop) => this.paths.some((path) => path.loop === loop && path.bound),
      onMounts: () => this.#claim(),
    });
    this.array.before = (request) => this.steps.take(`array ${request}`, () => undefined);
    this.steps.after = () => this.look();
  }

  /** Sees what the last step changed. */
  async look(): Promise<void> {
    this.paths = await this.array.status();
  }

  async start(): Promise<void> {
    for (const node of nodes) await registerNode(layout, node);
    await this.settle(this.call('create', 'a'));
  }

  /** Undefined where there is no such volume. Throws where the record can't be read. */
  get record(): VolumeRecord | undefined {
    const text = this.machine.files.get(recordPath(layout, volume))?.text;
    if (text === this.#read.text) return this.#read.record;
    const record = text === undefined ? undefined : recordSchema.parse(JSON.parse(text));
    this.#read = { text, record };
    return record;
  }

  /** Resolves to how it ended, and never where its process dies. */
  async call(
    name: CallName,
    node: NodeName,
    context = this.latest(node),
    strike?: Strike,
  ): Promise<Outcome> {
    const who = name.startsWith('node') || name.endsWith('stage') ? node : 'controller';
    const life = this.#life(who);
    const services = this.#servicesOf(life);
    try {
      const answer = await this.steps.as(life, () => services[name](node, context), strike);
      if (name === 'publish') this.#told(node, answer);
      return { answer };
    } catch (error) {
      return { code: status[grpcCodeOf(error)], message: messageOf(error) };
    }
  }

  latest(node: string): Record<string, string> | undefined {
    return this.contexts.get(node)?.at(-1);
  }

  /** Takes steps, of whom ever, until the call ended or nobody has a step to take. */
  async settle(call: Promise<Outcome>): Promise<Outcome> {
    return (await this.#ended(call)) ?? 'lost';
  }

  kill(who: string): void {
    const life = this.#lives.get(who);
    if (life !== undefined) this.steps.kill(life);
  }

  /** The machine loses power, and with it its driver and all mounts; false where the lab can't. */
  async crash(node: NodeName): Promise<boolean> {
    const asked = { node, unflushed: 'drops', seed: 's' } as const;
    if (this.off.has(node) || !(await this.#lab((backend) => losePower(backend, asked)))) {
      return false;
    }
    this.off.add(node);
    this.kill(node);
    this.machine.powerOff(node);
    await this.look();
    return true;
  }

  /** True once the node is there. */
  async boot(node: NodeName): Promise<boolean> {
    if (!this.off.has(node)) return true;
    if (!(await this.#lab((backend) => releaseNode(backend, loops, node)))) return false;
    return this.off.delete(node);
  }

  /** The lab tries again a few times; false where it did not get through. */
  async #lab(work: (backend: StorageBackend) => Promise<unknown>): Promise<boolean> {
    for (let tries = 0; tries < 4; tries += 1) {
      const life = { name: 'lab', dead: false };
      const lab = this.steps.as(life, () => work({ layout, array: this.array }));
      const through = await this.#ended(lab.then(() => true).catch(() => false));
      if (through === true) return true;
    }
    return false;
  }

  /** Takes steps, of whom ever, until nobody has one; undefined where the work has not ended. */
  async #ended<T>(work: Promise<T>): Promise<T | undefined> {
    const results: T[] = [];
    void work.then((result) => results.push(result));
    await this.steps.run();
    return results[0];
  }

  #told(node: string, answer: unknown): void {
    const { publishContext } = answer as { readonly publishContext: Record<string, string> };
    this.contexts.set(node, [...(this.contexts.get(node) ?? []), publishContext]);
  }

  #life(who: string): Life {
    const known = this.#lives.get(who);
    if (known !== undefined && !known.dead) return known;
    const life = { name: who, dead: false };
    this.#lives.set(who, life);
    return life;
  }

  #servicesOf(life: Life): Services {
    const known = this.#services.get(life);
    if (known !== undefined) return known;
    const taints = (node: string) => this.steps.take('taints', () => this.taints.get(node) ?? []);
    const services = newServices({
      array: this.array,
      taints,
      who: life.name,
      detachMode: this.#mode,
    });
    this.#services.set(life, services);
    return services;
  }

  #claim(): void {
    const claimed = new Set([...this.machine.mounts.values()].flat().map(({ device }) => device));
    for (const { volume: of, generation, device, state } of this.paths) {
      if (state !== 'closed') this.array.use(of, generation, { claimed: claimed.has(device) });
    }
  }
}

/** Generations of the node that it held when asked. */
export const heldGenerations = (record: VolumeRecord | undefined, node: string): number[] =>
  (record?.attachments ?? [])
    .filter((each) => each.node === node && isHeld(each))
    .map(({ generation }) => generation);
