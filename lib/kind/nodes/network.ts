/**
 * A node's place on the network: its pod range, the CNI configuration that serves it, and routes
 * to the other nodes' pods. Docker drops routes at every reconnect and boot, so they are put back.
 */
import * as engine from '../engine/commands.ts';
import { commandError, run, tryRun } from '../engine/run.ts';
import { InfrastructureError } from '../../core/index.ts';
import { boundLoops } from '../ownership/labs.ts';
import { type Lease, leaseCount } from '../ownership/lease.ts';

export interface NodeAddress {
  readonly node: string;
  readonly ip: string;
  readonly podCidr: string;
}

/** One pair of veth a pod, addresses from the node's own range: what kindnet configures too. */
export const cniConfig = (podCidr: string): string =>
  JSON.stringify({
    cniVersion: '0.3.1',
    name: 'forcedetach',
    plugins: [
      {
        type: 'ptp',
        mtu: 1500,
        ipMasq: false,
        ipam: {
          type: 'host-local',
          dataDir: '/run/cni-ipam-state',
          routes: [{ dst: '0.0.0.0/0' }],
          ranges: [[{ subnet: podCidr }]],
        },
      },
    ],
  });

/** Commands (for one shell) that give a node its default route and the way to the others' pods. */
export const routeCommands = (
  lease: Lease,
  self: NodeAddress,
  all: readonly NodeAddress[],
): string[] => [
  `ip route replace default via ${lease.gateway}`,
  ...podRouteCommands(all.filter(({ node }) => node !== self.node)),
];

export const podRouteCommands = (nodes: readonly NodeAddress[]): string[] =>
  nodes.map(({ podCidr, ip }) => `ip route replace ${podCidr} via ${ip}`);

/** Configures the node's CNI once; the file stays with the container. */
export async function installCni(address: NodeAddress): Promise<void> {
  const script = [
    'set -e',
    'mkdir -p /etc/cni/net.d',
    // Written whole, then named: containerd reads what it sees.
    'cat > /etc/cni/net.d/.forcedetach',
    'mv /etc/cni/net.d/.forcedetach /etc/cni/net.d/10-forcedetach.conflist',
    'sysctl -qw net.ipv4.ip_forward=1',
  ];
  await run(engine.execWithInput(address.node, 'sh', '-c', script.join('\n')), {
    input: cniConfig(address.podCidr),
  });
}

export async function restoreRoutes(
  lease: Lease,
  self: NodeAddress,
  all: readonly NodeAddress[],
): Promise<void> {
  const commands = routeCommands(lease, self, all).join(' && ');
  await run(engine.shell(self.node, commands));
}

export async function routeLab(lab: string, nodes: readonly NodeAddress[]): Promise<void> {
  await run(engine.shell(lab, podRouteCommands(nodes).join(' && ')));
}

interface NetworkRequest {
  readonly name: string;
  readonly among: readonly Lease[];
  /** Words for the engine. Default: none. */
  readonly labelsOf?: (lease: Lease) => readonly string[];
  /** Default: any whose loop devices are free. */
  readonly mayTake?: (lease: Lease) => Promise<boolean>;
  readonly signal?: AbortSignal | undefined;
}

/** The first that is free. Throws InfrastructureError `NO_LEASE` when all are taken; as the engine does. */
export async function takeNetwork({
  name,
  among,
  labelsOf = () => [],
  mayTake = () => Promise.resolve(true),
  signal,
}: NetworkRequest): Promise<Lease> {
  for (const lease of among) {
    // Networks are an engine's: another engine of this machine has the lock, or left loop devices.
    if (!(await mayTake(lease)) || (await boundLoops(lease)).length > 0) continue;
    const argv = engine.createNetwork(name, lease, labelsOf(lease));
    const result = await tryRun(argv, { signal });
    if (result.exitCode === 0) return lease;
    if (!/overlap|conflicts with network/i.test(result.stderr)) throw commandError(argv, result);
  }
  throw new InfrastructureError(
    'NO_LEASE',
    `all ${leaseCount} networks of 172.30.0.0/16, or their loop devices, are taken`,
    {
      hint: 'remove clusters or networks that you no longer need',
      command: 'npx forcedetach clean --all',
    },
  );
}
