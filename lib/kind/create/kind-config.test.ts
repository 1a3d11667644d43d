import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { clusterTimers, stockClusterTimers } from '../../run/ports/limits.ts';
import type { ImageSet } from '../images/image-plan.ts';
import { leaseAt } from '../ownership/lease.ts';
import { configHash, kindConfig, type KindConfigOptions, kubeadmPatches } from './kind-config.ts';

const shortened = clusterTimers({ grace: 10_000, forceDetachAfter: 30_000 });
const options: KindConfigOptions = {
  name: 'fd-main',
  nodeImage: 'forcedetach/node:1',
  workers: 2,
  lease: leaseAt(1),
  timers: stockClusterTimers,
  featureGates: {},
  cgroupVersion: '2',
  volumePath: '/volumes/fd-main/_data',
  patchesPath: '/state/patches',
  lacksSysResource: false,
};

interface Parsed {
  readonly featureGates: Record<string, boolean>;
  readonly networking: Record<string, unknown>;
  readonly kubeadmConfigPatches: readonly string[];
  readonly nodes: readonly { role: string; image: string; extraMounts: { hostPath: string }[] }[];
}
const parsed = (change: Partial<KindConfigOptions> = {}): Parsed =>
  parse(kindConfig({ ...options, ...change })) as Parsed;
const patch = (config: Parsed, kind: string): Record<string, unknown> | undefined =>
  config.kubeadmConfigPatches
    .map((text) => parse(text) as Record<string, unknown>)
    .find((one) => one['kind'] === kind);

test('one control plane and the asked number of workers, each with the volume', () => {
  const { nodes } = parsed({ workers: 3 });
  expect(nodes.map((node) => node.role)).toEqual(['control-plane', 'worker', 'worker', 'worker']);
  for (const node of nodes) {
    expect(node.image).toBe('forcedetach/node:1');
    expect(node.extraMounts.map((mount) => mount.hostPath)).toContain('/volumes/fd-main/_data');
  }
});

test('the lease gives the ranges, and no CNI or proxy is installed', () => {
  expect(parsed().networking).toEqual({
    disableDefaultCNI: true,
    kubeProxyMode: 'none',
    podSubnet: '10.101.0.0/16',
    serviceSubnet: '10.161.0.0/16',
  });
});

const flagsIn = (text: string | undefined): unknown[] =>
  (parse(text ?? '') as { path: string; value: unknown }[])
    .filter(({ path }) => path === '/spec/containers/0/command/-')
    .map(({ value }) => value);
const limits = [
  '--node-eviction-rate=0.1',
  '--secondary-node-eviction-rate=0.01',
  '--large-cluster-size-threshold=50',
  '--unhealthy-zone-threshold=0.55',
];

test('stock timers set the limits of eviction to their defaults, and nothing else', () => {
  const files = kubeadmPatches(stockClusterTimers);
  expect(flagsIn(files['kube-controller-manager+json.yaml'])).toEqual(limits);
  expect(files['kube-controller-manager+strategic.yaml']).toBeUndefined();
  expect(patch(parsed(), 'KubeletConfiguration')).toEqual({ kind: 'KubeletConfiguration' });
});

test('etcd syncs nothing to the file system that the databases sync to', () => {
  const files = kubeadmPatches(stockClusterTimers);
  expect(flagsIn(files['etcd+json.yaml'])).toEqual(['--unsafe-no-fsync=true']);
});

test('shortened timers reach kubelet and the controller manager', () => {
  expect(patch(parsed({ timers: shortened }), 'KubeletConfiguration')).toMatchObject({
    nodeLeaseDurationSeconds: 8,
    nodeStatusUpdateFrequency: '2s',
    nodeStatusReportFrequency: '5m0s',
  });
  const files = kubeadmPatches(shortened);
  expect(flagsIn(files['kube-controller-manager+json.yaml'])).toEqual([
    ...limits,
    '--node-monitor-grace-period=10s',
    '--node-monitor-period=2s',
  ]);
  expect(files['kube-controller-manager+strategic.yaml']).toContain(
    'FORCEDETACH_MAX_WAIT_FOR_UNMOUNT',
  );
});

test('without forced detaches the controller manager gets its flag', () => {
  const flagged = kubeadmPatches(stockClusterTimers, 'off')['kube-controller-manager+json.yaml'];
  expect(flagged).toContain('--disable-force-detach-on-timeout=true');
  const stock = kubeadmPatches(stockClusterTimers)['kube-controller-manager+json.yaml'];
  expect(stock).not.toContain('disable-force-detach');
});

test('a force-detach wait alone leaves the grace period stock', () => {
  const files = kubeadmPatches({ ...stockClusterTimers, forceDetachAfterMs: 30_000 });
  expect(flagsIn(files['kube-controller-manager+json.yaml'])).toEqual(limits);
  expect(files['kube-controller-manager+strategic.yaml']).toContain('30s');
});

test('feature gates are kind’s, which gives them to all components', () => {
  const gates = { NodeControllerLeaseCircuitBreaker: false };
  expect(parsed({ featureGates: gates }).featureGates).toEqual(gates);
});

test('kubelet starts on cgroup v1, where a newer one would refuse', () => {
  const kubelet = patch(parsed({ cgroupVersion: '1' }), 'KubeletConfiguration');
  expect(kubelet).toMatchObject({ failCgroupV1: false });
  expect(patch(parsed(), 'KubeletConfiguration')).not.toHaveProperty('failCgroupV1');
});

test('a grace period of a shutdown is the kubelet’s, a third of it for critical pods', () => {
  const shutdown = { graceMs: 31_000, driverEnds: 'last' } as const;
  expect(patch(parsed({ shutdown }), 'KubeletConfiguration')).toMatchObject({
    shutdownGracePeriod: '31s',
    shutdownGracePeriodCriticalPods: '10s',
  });
  const none = { ...shutdown, graceMs: 0 };
  expect(patch(parsed({ shutdown: none }), 'KubeletConfiguration')).toEqual({
    kind: 'KubeletConfiguration',
  });
});

test('the user namespace gate is set only where the capability is missing', () => {
  expect(patch(parsed({ lacksSysResource: true }), 'KubeletConfiguration')).toMatchObject({
    featureGates: { KubeletInUserNamespace: true },
  });
});

test('the API server is given the audit policy that lies beside kubeadm’s patches', () => {
  const files = kubeadmPatches(stockClusterTimers);
  const flags = flagsIn(files['kube-apiserver+json.yaml']);
  expect(flags).toContain('--audit-policy-file=/etc/forcedetach/patches/audit-policy.yaml');
  expect(parse(files['audit-policy.yaml'] ?? '')).toMatchObject({ kind: 'Policy' });
});

const images: ImageSet = {
  source: 'built',
  kubernetesVersion: '1.34.4',
  node: 'forcedetach/node:1',
  creation: { node: 'node', has: [] },
  load: [],
  database: 'forcedetach/mysql:1',
  attacher: 'forcedetach/attacher:1',
  driver: 'forcedetach/driver:1',
  array: 'forcedetach/array:1',
  tools: 'forcedetach/tools:1',
  ids: { node: 'sha256:1', driver: 'sha256:2', array: 'sha256:2', mysql: 'sha256:3' },
  tunableForceDetach: true,
};
const config = {
  images,
  workers: 2,
  timers: stockClusterTimers,
  forceDetach: 'on',
  featureGates: {},
  admission: 'open',
  transport: 'array',
} as const;

test('a new driver or array keeps the cluster, a new node image does not', () => {
  const withIds = (ids: Record<string, string>): string =>
    configHash({ ...config, images: { ...images, ids: { ...images.ids, ...ids } } });
  expect(withIds({ driver: 'sha256:9', array: 'sha256:9' })).toBe(configHash(config));
  expect(withIds({ node: 'sha256:9' })).not.toBe(configHash(config));
});

test('workers, timers, feature gates, an admission policy, the forced detach, the transport and a shutdown’s grace period make another cluster', () => {
  const timers = clusterTimers({ grace: 10_000, forceDetachAfter: 30_000 });
  const hashes = [config, { ...config, workers: 3 }, { ...config, timers }].map(configHash);
  const off = configHash({ ...config, forceDetach: 'off' });
  const gates = [{ AllAlpha: true }, { AllAlpha: false }].map((featureGates) =>
    configHash({ ...config, featureGates }),
  );
  const nbd = configHash({ ...config, transport: 'nbd' });
  const guarded = configHash({ ...config, admission: 'fencing-proof' });
  const shutdowns = [0, 30_000].map((graceMs) =>
    configHash({ ...config, shutdown: { graceMs, driverEnds: 'last' } }),
  );
  expect(new Set([...hashes, ...gates, off, nbd, guarded, ...shutdowns]).size).toBe(9);
});

test('the order of the ids does not matter', () => {
  const ids = Object.fromEntries(Object.entries(images.ids).toReversed());
  expect(configHash({ ...config, images: { ...images, ids } })).toBe(configHash(config));
});
