/**
 * A kubelet's heartbeats: lease and node status, while the API hears it. After a partition stale
 * connections keep it unheard for a while (kubernetes-client #121793).
 */
import type { NodeMachine } from '../machine.ts';
import { kubernetesTimes, measuredTimes } from '../timings.ts';
import { draw, type World } from '../world.ts';

export interface HeartbeatOptions {
  /** Whether the volume is in use on this node now. */
  readonly inUse: () => boolean;
  /** A status report went through, saying so. */
  readonly onReport: (inUse: boolean) => void;
}

export class Heartbeat {
  readonly #world: World;
  readonly #machine: NodeMachine;
  readonly #options: HeartbeatOptions;
  #heard = false;
  /** Grows with each change of the link: an older reconnect no longer counts. */
  #links = 0;

  constructor(world: World, machine: NodeMachine, options: HeartbeatOptions) {
    this.#world = world;
    this.#machine = machine;
    this.#options = options;
    machine.on('boot', () => this.#boot(draw(world, measuredTimes.boot)));
    machine.on('kill', () => this.#setUnheard());
    machine.on('link', () => this.#linkChanged());
    machine.on('resume', () => this.#resumed());
    this.#boot(0);
  }

  /** The kubelet and the API hear each other. */
  get heard(): boolean {
    return this.#heard && this.#machine.hearsApi;
  }

  #boot(delayUs: number): void {
    const { leaseRenewUs, statusUpdateUs } = kubernetesTimes;
    this.#hearAfter(delayUs);
    const { chance } = this.#world;
    this.#loop(delayUs + chance.int(0, leaseRenewUs), 0, leaseRenewUs, () => this.#renew());
    const jitter = kubernetesTimes.statusJitter;
    const phase = delayUs + chance.int(0, statusUpdateUs);
    this.#loop(phase, jitter, statusUpdateUs, () => this.#report());
  }

  #loop(delayUs: number, jitter: number, periodUs: number, run: () => void): void {
    this.#machine.after(delayUs, () => {
      run();
      const nextUs = periodUs * (1 + jitter * this.#world.chance.float());
      this.#loop(nextUs, jitter, periodUs, run);
    });
  }

  #linkChanged(): void {
    this.#setUnheard();
    if (this.#machine.linked) this.#hearAfter(draw(this.#world, measuredTimes.reconnect));
  }

  /** Its connections outlived the stall. */
  #resumed(): void {
    this.#setUnheard();
    if (this.#machine.linked) this.#hearAfter(draw(this.#world, measuredTimes.resume));
  }

  #setUnheard(): void {
    this.#heard = false;
    this.#links += 1;
  }

  #hearAfter(delayUs: number): void {
    const links = this.#links;
    this.#machine.after(delayUs, () => {
      if (links !== this.#links) return;
      this.#heard = true;
      this.#renew();
      this.#report();
    });
  }

  #renew(): void {
    if (this.heard) this.#world.api.node(this.#machine.name).leaseRenewals += 1;
  }

  #report(): void {
    if (!this.heard) return;
    const { api } = this.#world;
    const node = api.node(this.#machine.name);
    const inUse = this.#options.inUse();
    api.setReady(node, 'True');
    api.setInUse(node, inUse);
    this.#options.onReport(inUse);
  }
}
