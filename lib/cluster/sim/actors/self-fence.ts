/**
 * The sidecar of lib/self-fence: it ends the database once it has not seen its node's Lease renewed
 * for so long, and lets it go on when the Lease is renewed again. It needs the node to run, and neither
 * kubelet nor runtime.
 */
import { database } from '../../../database/chosen.ts';
import type { PodObject } from '../api-objects.ts';
import type { Container } from '../container.ts';
import type { OnNode } from '../machine.ts';
import { notices } from '../notices.ts';
import { measuredTimes } from '../timings.ts';
import type { VolumeSettings } from '../settings.ts';
import { seeSelfFence } from './sightings.ts';

export interface SelfFenceOptions extends OnNode {
  readonly pod: PodObject;
  readonly container: Container;
}

export class SelfFence {
  readonly #options: SelfFenceOptions;
  /** Grows with each change of what it sees: an older deadline no longer counts. */
  #changes = 0;
  #shut = false;
  #over = false;

  constructor(options: SelfFenceOptions) {
    this.#options = options;
    this.leaseChanged();
  }

  /** The Lease is renewed again or no longer, or can be seen again or no longer. */
  leaseChanged(): void {
    if (this.#over) return;
    this.#changes += 1;
    if (this.#seesRenewals) this.#after(0, () => this.#open());
    else this.#after(this.#settings.selfFenceAfterUs, () => this.#fence());
  }

  end(): void {
    this.#over = true;
  }

  get #settings(): VolumeSettings {
    return this.#options.world.of(this.#options.pod.workload);
  }

  #say(text: string): void {
    const { world, node, pod } = this.#options;
    seeSelfFence(world, node.name, pod.workload, text);
  }

  get #seesRenewals(): boolean {
    const { node, machine, world } = this.#options;
    return node.leaseStoppedAtUs === undefined && machine.reachesApi && !world.apiServer.still;
  }

  /** After the next question, and so much more. */
  #after(delayUs: number, run: () => void): void {
    const { world, machine, node } = this.#options;
    const changes = this.#changes;
    const lastUs = node.leaseStoppedAtUs ?? world.kernel.nowUs;
    const dueUs = lastUs + world.chance.within(measuredTimes.selfFenceAsk) + delayUs;
    machine.after(Math.max(0, dueUs - world.kernel.nowUs), () => {
      if (changes === this.#changes && !this.#over) run();
    });
  }

  #fence(): void {
    if (this.#shut) return;
    this.#shut = true;
    const { world, node, pod, container } = this.#options;
    const isReadOnly = this.#settings.selfFence === 'lease-read-only';
    container.fence(isReadOnly ? 'read-only' : 'kill');
    this.#say(`shut: no renewal; killed ${database.server} (model)`);
    if (isReadOnly) this.#say(`read-only: ${database.pod.dataFolder}`);
    world.notice(notices.selfFenced, node.index, pod.workload);
  }

  /** Only where the pod is still wanted. */
  #open(): void {
    const { world, node, pod, container } = this.#options;
    if (!this.#shut || !world.api.pods.has(pod) || pod.terminating) return;
    this.#shut = false;
    container.unfence();
    this.#say('open: the Lease is renewed and the pod is wanted');
    world.notice(notices.selfFenceOpened, node.index, pod.workload);
  }
}
