import { expect, test } from 'vitest';
import { leaseAt } from '../ownership/lease.ts';
import { cniConfig, podRouteCommands, routeCommands } from './network.ts';

const nodes = [
  { node: 'cp', ip: '172.30.0.3', podCidr: '10.100.0.0/24' },
  { node: 'worker', ip: '172.30.0.4', podCidr: '10.100.1.0/24' },
  { node: 'worker2', ip: '172.30.0.5', podCidr: '10.100.2.0/24' },
] as const;

test('a node is led out by the gateway and to every other node, not to itself', () => {
  expect(routeCommands(leaseAt(0), nodes[1], nodes)).toEqual([
    'ip route replace default via 172.30.0.1',
    'ip route replace 10.100.0.0/24 via 172.30.0.3',
    'ip route replace 10.100.2.0/24 via 172.30.0.5',
  ]);
});

test('the lab is led to every node', () => {
  expect(podRouteCommands(nodes)).toHaveLength(3);
});

test('pods get addresses of the node’s own range', () => {
  const config = JSON.parse(cniConfig('10.100.1.0/24')) as {
    plugins: { type: string; ipam: { ranges: unknown } }[];
  };
  expect(config.plugins.map((plugin) => plugin.type)).toEqual(['ptp']);
  expect(config.plugins[0]?.ipam.ranges).toEqual([[{ subnet: '10.100.1.0/24' }]]);
});
