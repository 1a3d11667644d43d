/** The database's container in a pod: starts the server, and starts it again when it dies. */
import { database } from '../../database/chosen.ts';
import type { Mount } from './disk/mount.ts';
import type { NodeMachine } from './machine.ts';
import { ModelServer } from './server.ts';
import { notices } from './notices.ts';
import { kubernetesTimes, measuredTimes } from './timings.ts';
import { draw, type World } from './world.ts';

export class Container {
  readonly #world: World;
  readonly #machine: NodeMachine;
  readonly #mount: Mount;
  readonly #podUid: string;
  readonly #onChange: () => void;
  #server: ModelServer | undefined;
  #ready = false;
  #ended = false;
  #fenced = false;
  #probeForgotten = false;
  #backOffUs = 0;

  /** `onChange`: it became ready or no longer is. */
  constructor(
    world: World,
    machine: NodeMachine,
    mount: Mount,
    podUid: string,
    onChange: () => void,
  ) {
    this.#world = world;
    this.#machine = machine;
    this.#mount = mount;
    this.#podUid = podUid;
    this.#onChange = onChange;
    this.#startAfter(world.chance.soonWithin(measuredTimes.containerStart));
  }

  /** The readiness probe holds. */
  get ready(): boolean {
    return this.#ready;
  }

  /** The container's process is there. */
  get running(): boolean {
    return this.#server !== undefined;
  }

  /** The server, while clients can connect to it. */
  get server(): ModelServer | undefined {
    return this.#server?.serving === true ? this.#server : undefined;
  }

  /** Its kubelet starts anew and knows no probe's result. */
  forgetProbe(): void {
    if (!this.#ready) return;
    this.#ready = false;
    this.#probeForgotten = true;
  }

  /** Its kubelet looks after it again: the first probe comes within one period (prober/worker.go run). */
  probeAgain(): void {
    if (!this.#probeForgotten) return;
    this.#probeForgotten = false;
    this.#readyAfter(draw(this.#world, kubernetesTimes.probeAgain));
  }

  /** SIGTERM; the machine ends what does not stop within the grace period. */
  stop(done: () => void): void {
    this.#ended = true;
    this.#ready = false;
    if (this.#server === undefined) done();
    else this.#server.stop(done);
  }

  kill(): void {
    this.#ended = true;
    this.#ready = false;
    this.#server?.kill();
  }

  /** SIGKILL by somebody else: its kubelet starts it again. False where no server was there. */
  killServer(): boolean {
    if (this.#server === undefined) return false;
    this.#server.kill();
    this.#world.notice(notices.serverDied, this.#machine.index, this.#mount.volume.index);
    this.#restart();
    return true;
  }

  /** SIGKILL by a sidecar, which keeps it down until `unfence`; the file system is left or taken away. */
  fence(how: 'kill' | 'read-only'): void {
    this.#fenced = true;
    this.#server?.kill();
    if (how === 'read-only') this.#mount.remountReadOnly();
    this.#server = undefined;
    this.#ready = false;
    this.#onChange();
  }

  unfence(): void {
    if (!this.#fenced) return;
    this.#fenced = false;
    this.#startAfter(this.#world.chance.soonWithin(measuredTimes.containerStart));
  }

  #startAfter(delayUs: number): void {
    this.#machine.byKubelet(delayUs, () => {
      if (this.#ended || this.#fenced || this.#server !== undefined) return;
      this.#server = new ModelServer(this.#world, this.#machine, this.#mount, this.#podUid, {
        onServing: () => this.#readyAfter(draw(this.#world, measuredTimes.readiness)),
        onDeath: () => this.#restart(),
      });
      this.#onChange();
    });
  }

  #readyAfter(delayUs: number): void {
    const server = this.#server;
    this.#machine.byKubelet(delayUs, () => {
      if (this.#ended || this.#server !== server || server?.serving !== true) return;
      this.#ready = true;
      this.#onChange();
    });
  }

  /** The first restart is at once, then 10 s, 20 s … 5 min (kubelet.go). */
  #restart(): void {
    this.#server = undefined;
    this.#ready = false;
    this.#onChange();
    if (this.#ended) return;
    if (this.#backOffUs > 0) this.#tellBackOff();
    const { crashBackOffUs, crashBackOffMaxUs } = kubernetesTimes;
    this.#startAfter(this.#backOffUs + this.#world.chance.soonWithin(measuredTimes.containerStart));
    this.#backOffUs = Math.min(crashBackOffMaxUs, Math.max(crashBackOffUs, this.#backOffUs * 2));
  }

  /** From the second death on its kubelet waits, and says so where it is heard. */
  #tellBackOff(): void {
    const { see, api } = this.#world;
    if (see === undefined || !this.#machine.hearsApi) return;
    const message = `Back-off restarting failed container ${database.name}`;
    for (const pod of api.pods) {
      if (pod.uid === this.#podUid) api.event(pod, 'kubelet', 'BackOff', message);
    }
  }
}
