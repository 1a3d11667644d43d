/** The control plane: what of it can be ended or made to stand still, and who notices. */
import type { Component, ComponentLook } from '../run/index.ts';
import { Attacher } from './actors/attacher.ts';
import { ControllerManager } from './actors/controller-manager.ts';
import type { Kubelet } from './actors/kubelet.ts';
import { Scheduler } from './actors/scheduler.ts';
import type { Volume } from './disk/volume.ts';
import { notices } from './notices.ts';
import { Process } from './process.ts';
import { measuredTimes } from './timings.ts';
import type { World } from './world.ts';

export interface ControlPlaneOptions {
  readonly world: World;
  /** By number, which is that of its workload too. */
  readonly volumes: readonly Volume[];
  readonly kubelets: readonly Kubelet[];
}

/** Streams of chance, by what draws from them; kubelets have theirs from 100 on. */
const streams = { controllerManager: 1, scheduler: 2, attacher: 3 } as const;

export class ModelControlPlane {
  readonly #world: World;
  readonly #kubelets: readonly Kubelet[];
  readonly #manager: ControllerManager;
  readonly #attacher: Process;
  /** Processes of the others so far. */
  readonly #ended = { 'api-server': 0, attacher: 0 };

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

  /** Another process takes its place; only the controller manager forgets anything by that. */
  kill(component: Component): void {
    if (component === 'controller-manager') return this.#manager.kill();
    this.#ended[component] += 1;
    this.stall(component);
    const startUs = this.#world.chance.within(measuredTimes.controllerStart);
    this.#world.kernel.schedule(startUs, () => this.resume(component));
  }

  /** Idempotent. */
  stall(component: Component): void {
    if (component === 'controller-manager') this.#manager.stall();
    else if (component === 'attacher') this.#attacher.standStill();
    else this.#setApi(false);
  }

  /** Idempotent. */
  resume(component: Component): void {
    if (component === 'controller-manager') this.#manager.resume();
    else if (component === 'attacher') this.#attacher.goOn();
    else this.#setApi(true);
  }

  look(component: Component): ComponentLook {
    if (component === 'controller-manager') return this.#manager.look;
    const { still } = component === 'attacher' ? this.#attacher : this.#world.apiServer;
    return { process: `model-${this.#ended[component] + 1}`, stalled: still };
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
