/** A node's agents, kubelet and containerd: made to stand still and to go on, by signals. */
import { stalls, type Stall } from '../../machine-port.ts';
import type { NodeShell, OutOfBandShell } from '../../node-shell.ts';

const every = stalls.runtime;

/** A command for each unit that runs, as `$unit` with its main process `$pid`. */
const forEach = (act: string): string => `
for unit do
  pid=$(systemctl show --property MainPID --value "$unit")
  [ "\${pid:-0}" -gt 0 ] || continue
  ${act}
done`;

const inNode = (node: NodeShell, act: string, units: readonly string[]): Promise<string> =>
  node.sh(forEach(act), ...units);

export async function stallAgents(node: OutOfBandShell, what: Stall): Promise<void> {
  await inNode(node, 'kill -STOP "$pid"', stalls[what]);
}

export async function resumeAgents(node: OutOfBandShell): Promise<void> {
  await inNode(node, 'kill -CONT "$pid"', every);
}

export async function stalledAgents(node: OutOfBandShell): Promise<string[]> {
  const act = `case $(cut -d ' ' -f 3 "/proc/$pid/stat") in T) echo "$unit" ;; esac`;
  const said = await inNode(node, act, every);
  return said.split('\n').filter((line) => line !== '');
}

/** Its process before and after. */
export async function restartKubelet(
  node: NodeShell,
): Promise<{ readonly before: string | undefined; readonly after: string | undefined }> {
  const look = async (): Promise<string | undefined> =>
    (await inNode(node, 'echo "$pid"', stalls.kubelet)) || undefined;
  const before = await look();
  await node.sh('systemctl restart kubelet');
  return { before, after: await look() };
}

/** Every kubelet lists its pods anew. A node that does not run is left as it is. */
export async function wakeKubelets(nodes: readonly NodeShell[]): Promise<void> {
  await Promise.allSettled(nodes.map((node) => restartKubelet(node)));
}
