/** The control plane: what of it can be ended or made to stand still, and who notices. */
import { observed } from '../history/index.ts';
import type { ComponentLook, Component } from '../run/index.ts';
import { AttachDetach } from './actors/attach-detach.ts';
import { Attacher } from './actors/attacher.ts';
import {
  type ControllerContext,
  PodGc,
  TaintEviction,
  Workloads,
  Scheduler,
} from './actors/controllers.ts';
import type { Kubelet } from './actors/kubelet.ts';
import { NodeMonitor } from './actors/node-monitor.ts';
import type { Volume } from './disk/volume.ts';
import { type Chance, Process } from './kernel.ts';
import { type ApiWatcher, notices } from './sightings.ts';
import { kubernetesTimes, measuredTimes } from './timings.ts';
import type { World } from './world.ts';

/**
 * The controller manager: a process whose controllers know only what they have seen since it leads. A
 * leader that cannot renew its lease ends itself; the next one waits until that lease has not moved for
 * 15 s as it sees it (client-go leaderelection.go), and every wait begins anew.
 */
class ControllerManager {
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

  /** All that it knew is gone; its lease stands. A standby need not start. */
  end({ hasStandby = false } = {}): void {
    if (!this.#stands) return;
    this.#process.end();
    const { api } = this.#world;
    api.watchers = api.watchers.filter((each) => !this.#controllers.includes(each));
    this.#stands = false;
    this.#stalled = false;
    this.#silentSinceUs = undefined;
    this.#world.notice(notices.controllerEnded, -1, -1);
    const startUs = hasStandby ? 0 : this.#chance.within(measuredTimes.controllerStart);
    this.#process.after(startUs, () => {
      this.#stands = true;
      this.#processes += 1;
      const { leaderLeaseUs, leaderRetry } = kubernetesTimes;
      this.#process.after(leaderLeaseUs + this.#chance.within(leaderRetry), () => this.#lead());
    });
  }

  stall(): void {
    if (!this.#stands || this.#stalled) return;
    this.#stalled = true;
    this.#process.standStill();
  }

  /** It renews a lease that nobody took meanwhile: each try has a deadline of its own (leaderelection.go, renew). */
  resume(): void {
    if (!this.#stalled) return;
    this.#stalled = false;
    this.#process.goOn();
    this.apiChanged();
  }

  apiChanged(): void {
    if (this.#stalled) return;
    if (this.#world.apiServer.still) this.#silentSinceUs ??= this.#world.kernel.nowUs;
    else this.#renewAgain();
  }

  /** One that was silent for longer than its renew deadline has ended itself. */
  #renewAgain(): void {
    const silentUs = this.#world.kernel.nowUs - (this.#silentSinceUs ?? this.#world.kernel.nowUs);
    this.#silentSinceUs = undefined;
    if (silentUs > kubernetesTimes.leaderRenewUs) this.end();
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
      const data = {
        line: `successfully acquired lease kube-system/kube-controller-manager (model-${this.#processes + 1})`,
      };
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

export interface ControlPlaneOptions {
  readonly world: World;
  /** By number, which is that of its workload too. */
  readonly volumes: readonly Volume[];
  readonly kubelets: readonly Kubelet[];
}

/** Streams of chance, by what draws from them; kubelets have theirs from 100 on. */
const streams = { controllerManager: 1, scheduler: 2, attacher: 3 } as const;

/** The control plane's node has all of them. */
const isOn = (component: Component, part: Component): boolean =>
  component === part || component === 'control-plane';

export class ModelControlPlane {
  readonly #world: World;
  readonly #kubelets: readonly Kubelet[];
  readonly #manager: ControllerManager;
  readonly #attacher: Process;

  constructor({ world, volumes, kubelets }: ControlPlaneOptions) {
    this.#world = world;
    this.#kubelets = kubelets;
    const { api, apiServer, kernel } = world;
    const process = new Process(kernel, apiServer);
    this.#attacher = process;
    api.watch(
      new Attacher({ world, process, chance: world.chance.stream(streams.attacher) }, volumes),
    );
    const ofScheduler = {
      process: new Process(kernel, apiServer),
      chance: world.chance.stream(streams.scheduler),
    };
    api.watch(new Scheduler({ world, ...ofScheduler }));
    this.#manager = new ControllerManager(
      world,
      world.chance.stream(streams.controllerManager),
      volumes.length,
    );
  }

  /** Of the controller manager: another process takes its place. */
  kill(): void {
    this.#manager.end();
  }

  failOver(): void {
    this.#manager.end({ hasStandby: true });
  }

  /** Idempotent. */
  stall(component: Component): void {
    if (isOn(component, 'controller-manager')) this.#manager.stall();
    if (isOn(component, 'attacher')) this.#attacher.standStill();
    if (isOn(component, 'api-server')) this.#setApi(false);
  }

  /** Idempotent. */
  resume(component: Component): void {
    if (isOn(component, 'api-server')) this.#setApi(true);
    if (isOn(component, 'attacher')) this.#attacher.goOn();
    if (isOn(component, 'controller-manager')) this.#manager.resume();
  }

  look(component: Component): ComponentLook {
    if (component === 'controller-manager') return this.#manager.look;
    const { still } = component === 'attacher' ? this.#attacher : this.#world.apiServer;
    return { process: 'model-1', stalled: still };
  }

  #setApi(up: boolean): void {
    const { apiServer } = this.#world;
    if (apiServer.still !== up) return;
    if (up) apiServer.goOn();
    else apiServer.standStill();
    this.#world.notice(up ? notices.apiUp : notices.apiDown, -1, -1);
    this.#manager.apiChanged();
    for (const kubelet of this.#kubelets) kubelet.apiChanged();
  }
}
