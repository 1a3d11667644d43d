/**
 * The sidecar of lib/run/self-fence: it ends the database once it has not seen its node's Lease renewed
 * for so long, and lets it go on when the Lease is renewed again. It needs the node to run, and neither
 * kubelet nor runtime.
 */
import type { PodObject } from '../api-objects.ts';
import type { Container } from '../container.ts';
import { notices } from '../notices.ts';
import { OnNode, type NodeContext } from '../on-node.ts';
import { selfFenceOf } from '../sightings.ts';
import { measuredTimes } from '../timings.ts';

export class SelfFence extends OnNode {
  readonly #pod: PodObject;
  readonly #container: Container;
  /** Grows with each change of what it sees: an older deadline no longer counts. */
  #changes = 0;
  #shut = false;
  #over = false;

  constructor(on: NodeContext, pod: PodObject, container: Container) {
    super(on);
    this.#pod = pod;
    this.#container = container;
    this.leaseChanged();
  }

  /** The Lease is renewed again or no longer, or can be seen again or no longer. */
  leaseChanged(): void {
    if (this.#over) return;
    this.#changes += 1;
    const { node, machine, world } = this;
    const { selfFenceAfterUs } = world.of(this.#pod.workload);
    const isRenewed =
      node.leaseStoppedAtUs === undefined && machine.reachesApi && !world.apiServer.still;
    if (isRenewed) this.#after(0, () => this.#open());
    else this.#after(selfFenceAfterUs, () => this.#fence());
  }

  end(): void {
    this.#over = true;
  }

  #say(text: string): void {
    this.world.see?.(selfFenceOf(this.node.name, this.#pod.workload, text));
  }

  /** After the next question, and so much more. */
  #after(delayUs: number, run: () => void): void {
    const changes = this.#changes;
    const lastUs = this.node.leaseStoppedAtUs ?? this.nowUs;
    const dueUs = lastUs + this.world.chance.within(measuredTimes.selfFenceAsk) + delayUs;
    this.machine.after(Math.max(0, dueUs - this.nowUs), () => {
      if (changes === this.#changes && !this.#over) run();
    });
  }

  #fence(): void {
    if (this.#shut) return;
    this.#shut = true;
    const { workload } = this.#pod;
    const { database } = this.world;
    const isReadOnly = this.world.of(workload).selfFence === 'lease-read-only';
    this.#container.fence(isReadOnly ? 'read-only' : 'kill');
    this.#say(`shut: no renewal; killed ${database.server} (model)`);
    if (isReadOnly) this.#say(`read-only: ${database.pod.dataFolder}`);
    this.notice(notices.selfFenced, workload);
  }

  /** Only where the pod is still wanted. */
  #open(): void {
    const pod = this.#pod;
    if (!this.#shut || !this.world.api.pods.has(pod) || pod.terminating) return;
    this.#shut = false;
    this.#container.unfence();
    this.#say('open: the Lease is renewed and the pod is wanted');
    this.notice(notices.selfFenceOpened, pod.workload);
  }
}
