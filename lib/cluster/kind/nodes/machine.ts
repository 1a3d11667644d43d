/** One node's machine: what a fault may do to it, by its shell and the engine's networks. */
import pRetry from 'p-retry';
import { inspect, run } from '../../../engine/run.ts';
import * as engine from '../../../engine/commands.ts';
import { containerShell } from '../../../engine/container-shell.ts';
import { pasteable } from '../../../engine/pasteable.ts';
import { InfrastructureError } from '../../../errors.ts';
import type { Proof } from '../../../storage/port.ts';
import type { WholeNodeShell } from '../../node-shell.ts';
import { type Machine, type Stall, stalls } from '../../machine-port.ts';
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
  readonly shell: WholeNodeShell;
  readonly #options: MachineOptions;

  constructor(options: MachineOptions) {
    this.node = options.self.node;
    this.shell = containerShell(this.node);
    this.#options = options;
  }

  readonly stall = (what: Stall): Promise<void> => stallAgents(this.shell, what);
  readonly stalled = (): Promise<string[]> => stalledAgents(this.shell);
  readonly restartKubelet: Required<Machine>['restartKubelet'] = () => restartKubelet(this.shell);
  readonly killServer = (): Promise<Proof> => killServers(this.shell);
  readonly throttle = (share: number): Promise<void> => limitCpu(this.node, share);
  readonly throttled = (): Promise<number> => limitedPeriods(this.node, this.#options.lab);
  readonly reachesApi = (): Promise<boolean> => reachesApi(this.shell);
  readonly reachedFromOutside = (): Promise<boolean> =>
    reachedFrom(containerShell(this.#options.lab), this.#options.self.ip);

  async freeze(): Promise<void> {
    const state = await this.state();
    if (state === 'stopped') throw this.#impossible('freeze', 'it is stopped');
    if (state !== 'running') return;
    await this.shell.suspend().catch((error: unknown) => this.#explain('frozen', error, notFrozen));
  }

  thaw(): Promise<void> {
    return this.#giveBack(pasteable(engine.unpause(this.node)), async () => {
      if ((await this.state()) === 'frozen') await this.shell.resume();
    });
  }

  async kill(): Promise<void> {
    if ((await this.state()) === 'stopped') return;
    await this.shell
      .powerOff()
      .catch((error: unknown) => this.#explain('killed', error, notKilled));
  }

  /** A process that waits for an answer which the array holds back is deaf to every signal. */
  #explain(what: 'frozen' | 'killed', cause: unknown, sign: RegExp): never {
    const said = cause instanceof Error ? sign.exec(cause.message)?.[0] : undefined;
    if (said === undefined) throw cause;
    const restore = ['node', '/app/lib/csi/disk-tool.ts', 'restore', '--node', this.node];
    throw new InfrastructureError('NODE_WAITS', `${this.node} cannot be ${what}: ${said}`, {
      hint: 'its processes wait for the disk, or for a process that does: release its requests',
      command: containerShell(this.#options.lab).byHand(restore),
      cause,
    });
  }

  /** Resolves once the node reaches the API server again, so that it can become Ready. */
  async start(): Promise<void> {
    await this.#giveBack(pasteable(engine.boot(this.node)), async () => {
      const state = await this.state();
      if (state === 'frozen') throw this.#impossible('start', 'it is frozen');
      if (state === 'stopped') await this.shell.powerOn();
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
    return this.#giveBack(pasteable(argv), async () => {
      const address = await this.#address();
      // A stopped node has no address; it gets one when it starts.
      if (address === undefined || (address !== '' && address !== self.ip)) {
        if (address !== undefined) await run(engine.disconnect(network, this.node));
        await run(argv);
      }
      if ((await this.state()) === 'running') await restoreRoutes(lease, self, all);
    });
  }

  /** `command`: what a person would do. */
  #giveBack(command: string, work: () => Promise<void>): Promise<void> {
    return orByHand({ node: this.node, command }, work);
  }

  async isolate(): Promise<void> {
    const { all, controlPlane } = this.#options;
    const address = all.find(({ node }) => node === controlPlane)?.ip;
    if (address === undefined) throw this.#impossible('isolate', 'no address of the control plane');
    await isolateNode(this.shell, address);
  }

  rejoin(): Promise<void> {
    return this.#giveBack(rejoinByHand(this.shell), () => rejoinNode(this.shell));
  }

  resume(): Promise<void> {
    const command = this.shell.byHand(['pkill', '-CONT', '-x', stalls.runtime.join('|')]);
    return this.#giveBack(command, () => resumeAgents(this.shell));
  }

  unthrottle(): Promise<void> {
    return this.#giveBack(pasteable(unlimit(this.node)), () => unlimitCpu(this.node));
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
        command: this.shell.byHand(['journalctl', '--no-pager', '--lines', '50']),
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
 * that does the same. An error that has it already passes.
 */
async function orByHand(
  { node, command }: { readonly node: string; readonly command: string },
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (cause) {
    if (cause instanceof InfrastructureError && cause.code === notHealed) throw cause;
    throw new InfrastructureError(notHealed, `the fault on ${node} is not healed`, {
      hint: 'check that the engine answers, then heal it by hand',
      command,
      cause,
    });
  }
}
