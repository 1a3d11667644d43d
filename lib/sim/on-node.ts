import type { NodeObject } from './api-objects.ts';
import type { NodeMachine } from './machine.ts';
import type { NoticeCode } from './notices.ts';
import type { DurationRange } from './timings.ts';
import type { World } from './world.ts';

export type NodeContext = Pick<OnNode, 'world' | 'machine' | 'node'>;

/** What all that runs on a node has of it. */
export class OnNode {
  readonly world: World;
  readonly machine: NodeMachine;
  readonly node: NodeObject;

  constructor({ world, machine, node }: NodeContext) {
    this.world = world;
    this.machine = machine;
    this.node = node;
  }

  get nowUs(): number {
    return this.world.kernel.nowUs;
  }

  /** Its kubelet does it so much later, as drawn. */
  byKubelet(range: DurationRange, work: () => void): void {
    this.machine.byKubelet(this.world.chance.within(range), work);
  }

  /** `volume`: its number; -1 where it is about the node alone. */
  notice(code: NoticeCode, volume: number): void {
    this.world.notice(code, this.node.index, volume);
  }
}
