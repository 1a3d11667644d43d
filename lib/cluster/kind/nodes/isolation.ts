/**
 * Cuts a node off from the control plane alone, by rules of the node's own firewall. They drop
 * silently, in both directions and also for its pods, as a broken network does; they are gone with
 * the network namespace when the node is started anew.
 */
import type { OutOfBandShell } from '../../node-shell.ts';

const chain = 'FORCEDETACH';
const hooks = ['INPUT', 'OUTPUT', 'FORWARD'] as const;

const inNode = (node: OutOfBandShell, commands: readonly string[]): Promise<string> =>
  node.sh(commands.join('\n'));

/** `address`: of the control plane. */
export async function isolateNode(node: OutOfBandShell, address: string): Promise<void> {
  await inNode(node, [
    'set -e',
    `iptables -w -N ${chain} 2>/dev/null || iptables -w -F ${chain}`,
    `iptables -w -A ${chain} -s ${address} -j DROP`,
    `iptables -w -A ${chain} -d ${address} -j DROP`,
    ...hooks.map(
      (hook) =>
        `iptables -w -C ${hook} -j ${chain} 2>/dev/null || iptables -w -I ${hook} -j ${chain}`,
    ),
  ]);
}

/** The command after which all passes again, though the empty chain stays. */
export const rejoinByHand = (node: OutOfBandShell): string =>
  node.byHand(['iptables', '-w', '-F', chain]);

/** No error where the node was not cut off. */
export async function rejoinNode(node: OutOfBandShell): Promise<void> {
  await inNode(node, [
    `iptables -w -S ${chain} >/dev/null 2>&1 || exit 0`,
    'set -e',
    ...hooks.map((hook) => `iptables -w -D ${hook} -j ${chain} 2>/dev/null || true`),
    `iptables -w -F ${chain}`,
    `iptables -w -X ${chain}`,
  ]);
}
