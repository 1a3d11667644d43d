/** One node's machine: what a fault may do to it, by the engine's own commands. */
import pRetry from 'p-retry';
import { inspect } from '../../../engine/ask.ts';
import * as engine from '../../../engine/commands.ts';
import { pasteable, run } from '../../../engine/run.ts';
import { InfrastructureError } from '../../../errors.ts';
import type { Proof } from '../../../storage/port.ts';
import { type Machine, type Stall, stalls } from '../../port.ts';
import type { Lease } from '../ownership/lease.ts';
import { restartKubelet, resumeAgents, stallAgents, stalledAgents } from './agents.ts';
import { limitCpu, limitedPeriods, unlimit, unlimitCpu } from './cpu-limit.ts';
import { isolateNode, rejoinByHand, rejoinNode } from './isolation.ts';
import { type NodeAddress, restoreRoutes } from './node-network.ts';
import { reachedFrom, reachesApi } from './reachability.ts';
import { killServers } from './servers.ts';

/** What runc says where a task does not freeze, on cgroup v1 and v2, and Docker where one does not die. */
const notFrozen = /unable to freeze|waiting for the cgroup to freeze/;
const notKilled = /did not receive an exit event/;

export interface MachineOptions {
  readonly self: NodeAddress;
  /** Every node of the cluster, this one included. */
  readonly all: readonly NodeAddress[];
  readonly controlPlane: string;
  readonly network: string;
  readonly lab: string;
  readonly lease: Lease;
}

interface Inspected {
  readonly State: { readonly Status: string };
  readonly NetworkSettings: {
    readonly Networks: Readonly<Record<string, { readonly IPAddress: string }>>;
  };
}

export class KindMachine implements Machine {
  readonly node: string;
  readonly #options: MachineOptions;

  constructor(options: MachineOptions) {
    this.node = options.self.node;
    this.#options = options;
  }

  readonly stall = (what: Stall): Promise<void> => stallAgents(this.node, what);
  readonly stalled = (): Promise<string[]> => stalledAgents(this.node);
  readonly restartKubelet: Machine['restartKubelet'] = () => restartKubelet(this.node);
  readonly killServer = (): Promise<Proof> => killServers(this.node);
  readonly throttle = (share: number): Promise<void> => limitCpu(this.node, share);
  readonly throttled = (): Promise<number> => limitedPeriods(this.node, this.#options.lab);
  readonly reachesApi = (): Promise<boolean> => reachesApi(this.node);
  readonly reachedFromOutside = (): Promise<boolean> =>
    reachedFrom(this.#options.lab, this.#options.self.ip);

  async freeze(): Promise<void> {
    const state = await this.state();
    if (state === 'stopped') throw this.#impossible('freeze', 'it is stopped');
    if (state === 'running') await this.#pause();
  }

  /**
   * On cgroup v1 runc gives up, and thaws again, when a task that just forks keeps the freezer at
   * FREEZING for some tens of milliseconds (libcontainer/cgroups/fs/freezer.go): ask anew.
   */
  async #pause(): Promise<void> {
    const pause = (): Promise<unknown> => run(engine.pause(this.node));
    const shouldRetry = ({ error }: { readonly error: Error }): boolean =>
      error.message.includes('unable to freeze');
    await pRetry(pause, { retries: 20, minTimeout: 50, maxTimeout: 250, shouldRetry }).catch(
      (error: unknown) => this.#explain('frozen', error, notFrozen),
    );
  }

  thaw(): Promise<void> {
    const argv = engine.unpause(this.node);
    return this.#giveBack(argv, async () => {
      if ((await this.state()) === 'frozen') await run(argv);
    });
  }

  async kill(): Promise<void> {
    if ((await this.state()) === 'stopped') return;
    await run(engine.kill(this.node)).catch((error: unknown) =>
      this.#explain('killed', error, notKilled),
    );
  }

  /** A process that waits for an answer which the array holds back is deaf to every signal. */
  #explain(what: 'frozen' | 'killed', cause: unknown, sign: RegExp): never {
    const said = cause instanceof Error ? sign.exec(cause.message)?.[0] : undefined;
    if (said === undefined) throw cause;
    const restore = ['node', '/app/lib/csi/disk-tool.ts', 'restore', '--node', this.node];
    throw new InfrastructureError('NODE_WAITS', `${this.node} cannot be ${what}: ${said}`, {
      hint: 'its processes wait for the disk, or for another that does: let go of its requests',
      command: pasteable(engine.exec(this.#options.lab, ...restore)),
      cause,
    });
  }

  /** Resolves once the node reaches the API server again, so that it can become Ready. */
  async start(): Promise<void> {
    const argv = engine.boot(this.node);
    await this.#giveBack(argv, async () => {
      const state = await this.state();
      if (state === 'frozen') throw this.#impossible('start', 'it is frozen');
      if (state === 'stopped') await run(argv);
    });
    await this.reconnect();
    await pRetry(() => this.#mustReachApi(), {
      retries: 60,
      factor: 1,
      minTimeout: 500,
      maxRetryTime: 60_000,
    });
  }

  async disconnect(): Promise<void> {
    if (this.node === this.#options.controlPlane) {
      throw this.#impossible('disconnect', 'the port of its API server would change');
    }
    if ((await this.#address()) === undefined) return;
    await run(engine.disconnect(this.#options.network, this.node));
  }

  reconnect(): Promise<void> {
    const { network, self, all, lease } = this.#options;
    const argv = engine.connect(network, this.node, self.ip);
    return this.#giveBack(argv, async () => {
      const address = await this.#address();
      // A stopped node has no address; it gets one when it starts.
      if (address === undefined || (address !== '' && address !== self.ip)) {
        if (address !== undefined) await run(engine.disconnect(network, this.node));
        await run(argv);
      }
      if ((await this.state()) === 'running') await restoreRoutes(lease, self, all);
    });
  }

  /** `argv`: what a person would do. */
  #giveBack(argv: readonly string[], work: () => Promise<void>): Promise<void> {
    return orByHand({ node: this.node, argv }, work);
  }

  async isolate(): Promise<void> {
    const { all, controlPlane } = this.#options;
    const address = all.find(({ node }) => node === controlPlane)?.ip;
    if (address === undefined) throw this.#impossible('isolate', 'no address of the control plane');
    await isolateNode(this.node, address);
  }

  rejoin(): Promise<void> {
    return this.#giveBack(rejoinByHand(this.node), () => rejoinNode(this.node));
  }

  resume(): Promise<void> {
    const argv = engine.exec(this.node, 'pkill', '-CONT', '-x', stalls.runtime.join('|'));
    return this.#giveBack(argv, () => resumeAgents(this.node));
  }

  unthrottle(): Promise<void> {
    const argv = unlimit(this.node);
    return this.#giveBack(argv, () => unlimitCpu(this.node));
  }

  /** Undoes whatever a fault did to it, also one of a run that was killed. */
  async mend(): Promise<void> {
    await this.thaw();
    await this.unthrottle();
    if ((await this.state()) === 'running') {
      await this.resume();
      await this.rejoin();
    }
    await this.start();
  }

  async state(): Promise<'running' | 'frozen' | 'stopped'> {
    const { Status } = (await this.#inspect()).State;
    if (Status === 'running') return 'running';
    return Status === 'paused' ? 'frozen' : 'stopped';
  }

  async #inspect(): Promise<Inspected> {
    const [found] = (await inspect('container', [this.node])) as Inspected[];
    if (found === undefined) throw this.#impossible('look at', 'its container is gone');
    return found;
  }

  /** On the cluster's network: undefined while disconnected, empty while stopped. */
  async #address(): Promise<string | undefined> {
    const { Networks } = (await this.#inspect()).NetworkSettings;
    return Networks[this.#options.network]?.IPAddress;
  }

  async #mustReachApi(): Promise<void> {
    if (!(await this.reachesApi())) {
      throw new InfrastructureError('NODE_UNREACHABLE', `${this.node} does not reach the API`, {
        hint: 'look at its kubelet and containerd',
        command: pasteable(engine.exec(this.node, 'journalctl', '--no-pager', '--lines', '50')),
      });
    }
  }

  #impossible(action: string, why: string): InfrastructureError {
    return new InfrastructureError('NODE_STATE', `cannot ${action} ${this.node}: ${why}`, {
      command: engine.byHand.lookAtState(this.node),
    });
  }
}

const notHealed = 'NODE_NOT_HEALED';

/**
 * Does the work; where that fails, throws InfrastructureError `NODE_NOT_HEALED` with the command
 * (`argv`) that does the same. An error that has it already passes.
 */
async function orByHand(
  { node, argv }: { readonly node: string; readonly argv: readonly string[] },
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (cause) {
    if (cause instanceof InfrastructureError && cause.code === notHealed) throw cause;
    throw new InfrastructureError(notHealed, `${node} was not given back what the fault took`, {
      hint: 'see that the engine answers, then do it by hand',
      command: pasteable(argv),
      cause,
    });
  }
}
