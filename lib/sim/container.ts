/** The database's container in a pod: starts the server, and starts it again when it dies. */
import type { Mount } from './disk/mount.ts';
import { notices } from './notices.ts';
import { OnNode, type NodeContext } from './on-node.ts';
import { ModelServer } from './server.ts';
import { kubernetesTimes, measuredTimes } from './timings.ts';
import { draw } from './world.ts';

export class Container extends OnNode {
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
  constructor(on: NodeContext, mount: Mount, podUid: string, onChange: () => void) {
    super(on);
    this.#mount = mount;
    this.#podUid = podUid;
    this.#onChange = onChange;
    this.#startAfter(0);
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
    this.#readyAfter(draw(this.world, kubernetesTimes.probeAgain));
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
    this.notice(notices.serverDied, this.#mount.volume.index);
    this.#restart();
    return true;
  }

  /** SIGKILL by a sidecar, which keeps it down until `unfence`; the file system is left or taken away. */
  fence(how: 'kill' | 'read-only'): void {
    this.#fenced = true;
    this.#server?.kill();
    if (how === 'read-only') this.#mount.remountReadOnly();
    this.#gone();
  }

  unfence(): void {
    if (!this.#fenced) return;
    this.#fenced = false;
    this.#startAfter(0);
  }

  #gone(): void {
    this.#server = undefined;
    this.#ready = false;
    this.#onChange();
  }

  #startAfter(delayUs: number): void {
    const startUs = this.world.chance.soonWithin(measuredTimes.containerStart);
    this.machine.byKubelet(delayUs + startUs, () => {
      if (this.#ended || this.#fenced || this.#server !== undefined) return;
      this.#server = new ModelServer(this, this.#mount, this.#podUid, {
        onServing: () => this.#readyAfter(draw(this.world, measuredTimes.readiness)),
        onDeath: () => this.#restart(),
      });
      this.#onChange();
    });
  }

  #readyAfter(delayUs: number): void {
    const server = this.#server;
    this.machine.byKubelet(delayUs, () => {
      if (this.#ended || this.#server !== server || server?.serving !== true) return;
      this.#ready = true;
      this.#onChange();
    });
  }

  /** The first restart is at once, then 10 s, 20 s … 5 min (kubelet.go). */
  #restart(): void {
    this.#gone();
    if (this.#ended) return;
    if (this.#backOffUs > 0) this.#tellBackOff();
    const { crashBackOffUs, crashBackOffMaxUs } = kubernetesTimes;
    this.#startAfter(this.#backOffUs);
    this.#backOffUs = Math.min(crashBackOffMaxUs, Math.max(crashBackOffUs, this.#backOffUs * 2));
  }

  /** From the second death on its kubelet waits, and says so where it is heard. */
  #tellBackOff(): void {
    const { see, api, database } = this.world;
    const pod = api.podWithUid(this.#podUid);
    if (see === undefined || pod === undefined || !this.machine.hearsApi) return;
    api.event(pod, 'kubelet', 'BackOff', `Back-off restarting failed container ${database.name}`);
  }
}
