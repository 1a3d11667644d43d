/** One node's machine: what a fault may do to it, by its shell and the engine. */
import { setTimeout as sleep } from 'node:timers/promises';
import pRetry from 'p-retry';
import { diskToolWords } from '../disk/disk.ts';
import * as engine from '../engine/commands.ts';
import { containerShell } from '../engine/container-shell.ts';
import { pasteable, firstProcessOf, inspect, run } from '../engine/run.ts';
import { InfrastructureError } from '../../core/index.ts';
import {
  type Proof,
  type Machine,
  type Stall,
  stalls,
  type Ended,
  type OutOfBandShell,
  type WholeNodeShell,
} from '../../run/index.ts';
import type { Lease } from '../ownership/lease.ts';
import {
  hangInShutdown,
  killServers,
  restartKubelet,
  resumeAgents,
  stallAgents,
  stalledAgents,
  stopServers,
} from './acts.ts';
import { type NodeAddress, restoreRoutes } from './network.ts';

/** What runc says where a task does not freeze, on cgroup v1 and v2, and Docker where one does not die. */
const notFrozen = /unable to freeze|waiting for the cgroup to freeze/;
const notKilled = /did not receive an exit event/;

/**
 * Rules of the node's own firewall cut it off from the control plane alone. They drop silently, in both
 * directions and also for its pods, as a broken network does; they are gone with the network namespace
 * when the node boots.
 */
const chain = 'FORCEDETACH';
const hooks = ['INPUT', 'OUTPUT', 'FORWARD'] as const;

/** The longest period that the kernel takes: pauses of a second, and shares down to a thousandth. */
const periodUs = 1_000_000;
/** The kernel takes no less (sched/core.c, min_cfs_quota_period). */
const leastQuotaUs = 1_000;
const throttledWithinMs = 3_000;

const kubeletPort = 10250;
/** Both probes give up by themselves after 3 s; the rest is for a machine that is busy. */
const probeMs = 15_000;

interface MachineOptions {
  /** Program of the database's server. */
  readonly server: string;
  readonly self: NodeAddress;
  readonly all: readonly NodeAddress[];
  readonly controlPlane: string;
  readonly network: string;
  readonly lab: string;
  readonly lease: Lease;
}

interface Inspected {
  readonly State: { readonly Status: string };
  readonly HostConfig: { readonly CpuQuota: number };
  readonly NetworkSettings: {
    readonly Networks: Readonly<Record<string, { readonly IPAddress: string }>>;
  };
}

/** Its clock is that of every node: they share one kernel. */
export class KindMachine implements Omit<Required<Machine>, 'setClockBack' | 'clockBackMs'> {
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
  readonly killServer = (): Promise<Proof> => killServers(this.shell, this.#options.server);
  /** Resolves to what lets them go on. */
  readonly stopServers = (): Promise<() => Promise<void>> =>
    stopServers(this.shell, this.#options.server);

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

  async shutDown(withinMs: number): Promise<void> {
    // kind's policy starts a node that ended by itself once again.
    await run(engine.update(this.node, '--restart', 'no'));
    const untilMs = Date.now() + withinMs;
    await this.shell.run(['systemctl', 'poweroff'], { timeoutMs: withinMs });
    while ((await this.state()) !== 'stopped' && Date.now() < untilMs) await sleep(500);
  }

  readonly hangInShutdown = (): Promise<Proof> => hangInShutdown(this.shell);

  /** A process that waits for an answer which the array holds back is deaf to every signal. */
  #explain(what: 'frozen' | 'killed', cause: unknown, sign: RegExp): never {
    const said = cause instanceof Error ? sign.exec(cause.message)?.[0] : undefined;
    if (said === undefined) throw cause;
    throw new InfrastructureError('NODE_WAITS', `${this.node} cannot be ${what}: ${said}`, {
      hint: 'its processes wait for the disk, or for a process that does: answer them with an error',
      command: containerShell(this.#options.lab).byHand(
        diskToolWords('fail-held', { node: this.node }),
      ),
      cause,
    });
  }

  /** Resolves once the node reaches the API server again, so that it can become Ready. */
  async start(): Promise<void> {
    await this.#giveBack(pasteable(engine.boot(this.node)), async () => {
      const state = await this.state();
      if (state === 'frozen') throw this.#impossible('start', 'it is frozen');
      if (state !== 'stopped') return;
      // Docker gives a node that boots the lowest free address, which may be that of another one that is down.
      await this.#connect(await this.#address());
      await this.shell.powerOn();
    });
    await this.reconnect();
    const often = { retries: 60, factor: 1, minTimeout: 500, maxRetryTime: 60_000 };
    await pRetry(() => this.#mustReachApi(), often);
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
      if (address === undefined || (address !== '' && address !== self.ip))
        await this.#connect(address);
      if ((await this.state()) === 'running') await restoreRoutes(lease, self, all);
    });
  }

  async isolate(): Promise<void> {
    const { all, controlPlane } = this.#options;
    const address = all.find(({ node }) => node === controlPlane)?.ip;
    if (address === undefined) throw this.#impossible('isolate', 'no address of the control plane');
    const jumps = hooks.map(
      (hook) =>
        `iptables -w -C ${hook} -j ${chain} 2>/dev/null || iptables -w -I ${hook} -j ${chain}`,
    );
    const rules = [
      `iptables -w -N ${chain} 2>/dev/null || iptables -w -F ${chain}`,
      `iptables -w -A ${chain} -s ${address} -j DROP`,
      `iptables -w -A ${chain} -d ${address} -j DROP`,
    ];
    await this.shell.sh(['set -e', ...rules, ...jumps].join('\n'));
  }

  rejoin(): Promise<void> {
    const flush = ['iptables', '-w', '-F', chain];
    const script = [
      `iptables -w -S ${chain} >/dev/null 2>&1 || exit 0`,
      'set -e',
      ...hooks.map((hook) => `iptables -w -D ${hook} -j ${chain} 2>/dev/null || true`),
      flush.join(' '),
      `iptables -w -X ${chain}`,
    ].join('\n');
    return this.#giveBack(this.shell.byHand(flush), () => this.shell.sh(script));
  }

  resume(): Promise<void> {
    const command = this.shell.byHand(['pkill', '-CONT', '-x', stalls.runtime.join('|')]);
    return this.#giveBack(command, () => resumeAgents(this.shell));
  }

  async throttle(share: number): Promise<void> {
    const quotaUs = Math.max(leastQuotaUs, Math.round(share * periodUs));
    const limit = ['--cpu-period', String(periodUs), '--cpu-quota', String(quotaUs)];
    await run(engine.update(this.node, ...limit));
  }

  unthrottle(): Promise<void> {
    const unlimit = engine.update(this.node, '--cpu-quota', '-1');
    return this.#giveBack(pasteable(unlimit), async () => {
      const { HostConfig } = await this.#inspect();
      if (HostConfig.CpuQuota > 0) await run(unlimit);
    });
  }

  async throttled(): Promise<number> {
    const before = await this.#periods();
    await sleep(throttledWithinMs);
    const after = await this.#periods();
    const periods = after.all - before.all;
    return periods === 0 ? 0 : (after.limited - before.limited) / periods;
  }

  /** Read from the lab, since a node that starves answers late: cgroup v1 has a folder of its own. */
  async #periods(): Promise<{ all: number; limited: number }> {
    const root = `/proc/${await firstProcessOf(this.node)}/root/sys/fs/cgroup`;
    const script = `cat ${root}/cpu/cpu.stat 2>/dev/null || cat ${root}/cpu.stat`;
    const text = await run(engine.shell(this.#options.lab, script));
    const read = (name: string): number =>
      Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
    return { all: read('nr_periods'), limited: read('nr_throttled') };
  }

  async reachesApi(): Promise<boolean> {
    const flags = ['--kubeconfig=/etc/kubernetes/kubelet.conf', '--request-timeout=3s'];
    const { exitCode } = await probe(this.shell, ['kubectl', ...flags, 'get', '--raw', '/readyz']);
    return exitCode === 0;
  }

  async reachedFromOutside(): Promise<boolean> {
    const { lab, self } = this.#options;
    const target = `TCP:${self.ip}:${kubeletPort},connect-timeout=2`;
    const argv = ['socat', '-u', 'OPEN:/dev/null', target];
    const { exitCode, stderr } = await probe(containerShell(lab), argv);
    // Refused is an answer of the node too: its kubelet does not listen yet.
    return exitCode === 0 || stderr.includes('refused');
  }

  async #mustReachApi(): Promise<void> {
    if (await this.reachesApi()) return;
    throw new InfrastructureError('NODE_UNREACHABLE', `${this.node} does not reach the API`, {
      hint: 'look at its kubelet and containerd',
      command: this.shell.byHand(['journalctl', '--no-pager', '--lines', '50']),
    });
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

  /** With the node's own address; `address` is what it has. */
  async #connect(address: string | undefined): Promise<void> {
    const { network, self } = this.#options;
    if (address !== undefined) await run(engine.disconnect(network, this.node));
    await run(engine.connect(network, this.node, self.ip));
  }

  /** On the cluster's network: undefined while disconnected, empty while stopped. */
  async #address(): Promise<string | undefined> {
    const { Networks } = (await this.#inspect()).NetworkSettings;
    return Networks[this.#options.network]?.IPAddress;
  }

  /**
   * Where the work fails, throws InfrastructureError `NODE_NOT_HEALED` with the command that does the
   * same. An error that has it already passes.
   */
  async #giveBack(command: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (cause) {
      if (cause instanceof InfrastructureError && cause.code === notHealed) throw cause;
      throw new InfrastructureError(notHealed, `the fault on ${this.node} is not healed`, {
        hint: 'check that the engine answers, then heal it by hand',
        command,
        cause,
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

/** A command that a busy machine did not come to is no answer: it runs once more. */
async function probe(node: OutOfBandShell, argv: readonly string[]): Promise<Ended> {
  for (let tries = 0; tries < 2; tries += 1) {
    const answer = await node.run(argv, { timeoutMs: probeMs });
    if (answer.exitCode !== -1) return answer;
  }
  throw new InfrastructureError(
    'PROBE_LATE',
    `no answer in ${probeMs / 1000} s after two attempts`,
    {
      command: node.byHand(argv),
    },
  );
}
