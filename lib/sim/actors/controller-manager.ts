/**
 * The controller manager: a process whose controllers know only what they have seen since it leads. A
 * leader that cannot renew its lease ends itself; the next one waits until that lease has not moved for
 * 15 s as it sees it (client-go leaderelection.go), and every wait begins anew.
 */
import { observed } from '../../history/index.ts';
import type { ComponentLook } from '../../run/index.ts';
import type { ApiWatcher } from '../api-objects.ts';
import type { Chance } from '../chance.ts';
import { notices } from '../notices.ts';
import { Process } from '../process.ts';
import { kubernetesTimes, measuredTimes } from '../timings.ts';
import type { World } from '../world.ts';
import { AttachDetach } from './attach-detach.ts';
import type { ControllerContext } from './controller.ts';
import { NodeMonitor } from './node-monitor.ts';
import { PodGc } from './pod-gc.ts';
import { TaintEviction } from './taint-eviction.ts';
import { Workloads } from './workloads.ts';

export class ControllerManager {
  readonly #world: World;
  readonly #chance: Chance;
  readonly #workloads: number;
  readonly #process: Process;
  #controllers: readonly ApiWatcher[] = [];
  /** Processes so far: the number of the one that is there or comes next. */
  #processes = 0;
  #stands = true;
  #stalled = false;
  /** When it last could renew; undefined while it can. */
  #silentSinceUs: number | undefined;

  constructor(world: World, chance: Chance, workloads: number) {
    this.#world = world;
    this.#chance = chance;
    this.#workloads = workloads;
    this.#process = new Process(world.kernel, world.apiServer);
    this.#lead();
  }

  get look(): ComponentLook {
    const process = this.#stands ? `model-${this.#processes + 1}` : undefined;
    return { process, stalled: this.#stalled };
  }

  /** All that it knew is gone; its lease stands. */
  kill(): void {
    if (!this.#stands) return;
    this.#process.end();
    const { api } = this.#world;
    api.watchers = api.watchers.filter((each) => !this.#controllers.includes(each));
    this.#stands = false;
    this.#stalled = false;
    this.#silentSinceUs = undefined;
    this.#world.notice(notices.controllerEnded, -1, -1);
    this.#process.after(this.#chance.within(measuredTimes.controllerStart), () => {
      this.#stands = true;
      this.#processes += 1;
      const { leaderLeaseUs, leaderRetry } = kubernetesTimes;
      this.#process.after(leaderLeaseUs + this.#chance.within(leaderRetry), () => this.#lead());
    });
  }

  stall(): void {
    if (!this.#stands || this.#stalled) return;
    this.#stalled = true;
    this.#silentSinceUs ??= this.#world.kernel.nowUs;
    this.#process.standStill();
  }

  resume(): void {
    if (!this.#stalled) return;
    this.#stalled = false;
    this.#process.goOn();
    this.#renewAgain();
  }

  /** The API server stands still, or goes on. */
  apiChanged(): void {
    if (this.#world.apiServer.still) this.#silentSinceUs ??= this.#world.kernel.nowUs;
    else if (!this.#stalled) this.#renewAgain();
  }

  /** One that was silent for longer than its renew deadline has ended itself. */
  #renewAgain(): void {
    const silentUs = this.#world.kernel.nowUs - (this.#silentSinceUs ?? this.#world.kernel.nowUs);
    this.#silentSinceUs = undefined;
    if (silentUs > kubernetesTimes.leaderRenewUs) this.kill();
  }

  #lead(): void {
    const world = this.#world;
    const stream = this.#chance.stream(this.#processes);
    const isNew = this.#processes > 0;
    const context = (n: number): ControllerContext => ({
      ...{ world, process: this.#process, isNew },
      chance: stream.stream(n),
    });
    if (isNew) {
      const data = { holder: `model-${this.#processes + 1}` };
      world.see?.({ source: 'controller-manager', name: observed.leaderAcquired, data });
    }
    world.notice(notices.controllerLeads, -1, -1);
    this.#controllers = [
      new NodeMonitor(context(0)),
      new TaintEviction(context(1)),
      new PodGc(context(2)),
      new AttachDetach(context(3), this.#workloads),
      new Workloads(context(4), this.#workloads),
    ];
    world.api.watch(...this.#controllers);
  }
}
