/**
 * The node lifecycle controller: a node whose lease no tick saw renewed for the grace period is
 * Unknown, tainted unreachable, and its pods are not ready (node_lifecycle_controller.go).
 */
import type { NodeObject, Taint } from '../api-objects.ts';
import { kubernetesTimes } from '../timings.ts';
import { draw, every, type World } from '../world.ts';

export const unreachableKey = 'node.kubernetes.io/unreachable';
const unreachable: readonly Taint[] = [
  { key: unreachableKey, effect: 'NoExecute' },
  { key: unreachableKey, effect: 'NoSchedule' },
];

/** What the controller last saw of a node. The grace period runs from when it saw it. */
interface Health {
  renewals: number;
  seenAtUs: number;
}

export function startNodeMonitor(world: World): void {
  const { kernel, api, settings } = world;
  const seen = new Map<string, Health>();

  const check = (node: NodeObject): void => {
    const health = seen.get(node.name);
    if (health === undefined || health.renewals !== node.leaseRenewals) {
      seen.set(node.name, { renewals: node.leaseRenewals, seenAtUs: kernel.nowUs });
    } else if (kernel.nowUs - health.seenAtUs > settings.graceUs) {
      api.setReady(node, 'Unknown');
    }
    const others = node.taints.filter(({ key }) => key !== unreachableKey);
    const tainted = others.length < node.taints.length;
    if (tainted !== (node.ready === 'True')) return;
    kernel.schedule(draw(world, kubernetesTimes.taintPass), () => {
      const kept = node.taints.filter(({ key }) => key !== unreachableKey);
      api.setTaints(node, node.ready === 'True' ? kept : [...kept, ...unreachable]);
    });
    const { pod } = api;
    if (pod?.node === node.name && node.ready !== 'True') api.setPodReady(pod, false);
  };

  every(world, kubernetesTimes.nodeMonitorUs, () => {
    for (const node of api.nodes.values()) check(node);
  });
}
