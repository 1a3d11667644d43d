/** kind's configuration and kubeadm's patches: pure text from a lease, timers and images. */
import { createHash } from 'node:crypto';
import { stringify } from 'yaml';
import type { ImageSet } from '../images/image-plan.ts';
import { type FeatureGates, zoneLimits } from '../../core/index.ts';
import { type ClusterTimers, goDuration, stockClusterTimers } from '../../run/index.ts';
import { criticalGraceMs, type Scenario, type Transport } from '../../scenario/index.ts';
import type { Lease } from '../ownership/lease.ts';

/** Where the cluster's volume is mounted in every node and in the lab. */
export const sharedDir = '/var/lib/forcedetach';
/** Where the run's socket directory is mounted in the lab. */
export const socketDir = '/run/forcedetach';
/** Where kubeadm finds its patches on the control plane. */
const patchesDir = '/etc/forcedetach/patches';

/** Environment variable of the locally built controller manager. */
const forceDetachVariable = 'FORCEDETACH_MAX_WAIT_FOR_UNMOUNT';

export interface KindConfigOptions
  extends Pick<ClusterConfig, 'workers' | 'timers' | 'featureGates' | 'shutdown'> {
  readonly name: string;
  readonly nodeImage: string;
  readonly lease: Lease;
  /** The engine's: `1` or `2`. */
  readonly cgroupVersion: string;
  /** Host path of the cluster's volume. */
  readonly volumePath: string;
  /** Host directory that holds the files of `kubeadmPatches`. */
  readonly patchesPath: string;
  /** The engine's privileged containers lack CAP_SYS_RESOURCE. */
  readonly lacksSysResource: boolean;
}

export function kindConfig(options: KindConfigOptions): string {
  const shared = { hostPath: options.volumePath, containerPath: sharedDir };
  const patches = { hostPath: options.patchesPath, containerPath: patchesDir, readOnly: true };
  const node = { image: options.nodeImage, extraMounts: [shared] };
  return stringify({
    kind: 'Cluster',
    apiVersion: 'kind.x-k8s.io/v1alpha4',
    name: options.name,
    networking: {
      disableDefaultCNI: true,
      kubeProxyMode: 'none',
      podSubnet: options.lease.podCidr,
      serviceSubnet: options.lease.serviceCidr,
    },
    featureGates: options.featureGates,
    kubeadmConfigPatches: kubeadmConfigPatches(options),
    nodes: [
      { role: 'control-plane', ...node, extraMounts: [shared, patches] },
      ...Array.from({ length: options.workers }, () => ({ role: 'worker', ...node })),
    ],
  });
}

const kubeadmConfigPatches = (options: KindConfigOptions): string[] =>
  [
    {
      kind: 'InitConfiguration',
      // Neither DNS nor services are used: fewer pods, fewer things that could matter.
      skipPhases: ['preflight', 'addon/coredns', 'addon/kube-proxy'],
      patches: { directory: patchesDir },
    },
    { kind: 'JoinConfiguration', skipPhases: ['preflight'] },
    {
      kind: 'KubeletConfiguration',
      ...kubeletTimers(options.timers),
      ...shutdownPeriods(options.shutdown),
      // From 1.35 a kubelet does not start there unless it is told to; older ones know the field too.
      ...(options.cgroupVersion === '1' ? { failCgroupV1: false } : {}),
      ...(options.lacksSysResource ? { featureGates: { KubeletInUserNamespace: true } } : {}),
    },
  ].map((patch) => stringify(patch));

function kubeletTimers(timers: ClusterTimers): Record<string, unknown> {
  if (timers.nodeMonitorGraceMs === stockClusterTimers.nodeMonitorGraceMs) return {};
  return {
    nodeLeaseDurationSeconds: timers.kubeletLeaseMs / 1_000,
    nodeStatusUpdateFrequency: goDuration(timers.kubeletStatusMs),
    // Unset it would follow the update frequency, which stock kubelets do not do.
    nodeStatusReportFrequency: '5m0s',
  };
}

function shutdownPeriods({ graceMs } = asStock): Record<string, unknown> {
  if (graceMs === 0) return {};
  return {
    shutdownGracePeriod: goDuration(graceMs),
    shutdownGracePeriodCriticalPods: goDuration(criticalGraceMs(graceMs)),
  };
}

/**
 * Files for kubeadm's patches directory, by name. etcd need not outlive the machine, which no fault
 * takes away, and each of its syncs is one of the file system that all databases sync to. Patches of
 * the static pod rather than extraArgs: these are maps in kubeadm v1beta3 and lists in v1beta4.
 */
export function kubeadmPatches(
  timers: ClusterTimers,
  forceDetach: ForceDetach = 'on',
): Readonly<Record<string, string>> {
  const stock = stockClusterTimers;
  const files: Record<string, string> = {
    // kubeadm passes over what is no patch; the API server reads it.
    [policyFile]: auditPolicy,
    'etcd+json.yaml': stringify([added('command', '--unsafe-no-fsync=true')]),
    'kube-apiserver+json.yaml': stringify(auditPatch),
    'kube-controller-manager+json.yaml': stringify(
      controllerManagerFlags(timers, forceDetach).map((flag) => added('command', flag)),
    ),
  };
  if (timers.forceDetachAfterMs !== stock.forceDetachAfterMs) {
    const wait = { name: forceDetachVariable, value: goDuration(timers.forceDetachAfterMs) };
    files['kube-controller-manager+strategic.yaml'] = stringify({
      spec: { containers: [{ name: 'kube-controller-manager', env: [wait] }] },
    });
  }
  return files;
}

const policyFile = 'audit-policy.yaml';
const policyPath = `${patchesDir}/${policyFile}`;

const added = (list: string, value: unknown): Readonly<Record<string, unknown>> => ({
  op: 'add',
  path: `/spec/containers/0/${list}/-`,
  value,
});

/** The audit log goes to the container's own log, where kubelet keeps it. */
const auditPatch = [
  added('command', `--audit-policy-file=${policyPath}`),
  added('command', '--audit-log-path=-'),
  added('volumeMounts', { name: 'audit-policy', mountPath: policyPath, readOnly: true }),
  {
    op: 'add',
    path: '/spec/volumes/-',
    value: { name: 'audit-policy', hostPath: { path: policyPath, type: 'File' } },
  },
];

/** The limits are Kubernetes' own defaults, set all the same: what was in force is then known. */
function controllerManagerFlags(timers: ClusterTimers, forceDetach: ForceDetach): string[] {
  const flags = [
    `--node-eviction-rate=${zoneLimits.evictionRate}`,
    `--secondary-node-eviction-rate=${zoneLimits.secondaryEvictionRate}`,
    `--large-cluster-size-threshold=${zoneLimits.largeClusterNodes}`,
    `--unhealthy-zone-threshold=${zoneLimits.unhealthyShare}`,
  ];
  if (forceDetach === 'off') flags.push('--disable-force-detach-on-timeout=true');
  if (timers.nodeMonitorGraceMs !== stockClusterTimers.nodeMonitorGraceMs) {
    flags.push(
      `--node-monitor-grace-period=${goDuration(timers.nodeMonitorGraceMs)}`,
      `--node-monitor-period=${goDuration(timers.nodeMonitorPeriodMs)}`,
    );
  }
  return flags;
}

const core = (...resources: readonly string[]): unknown[] => [{ group: '', resources }];

/**
 * What the API server's audit log keeps: who removed which pod, attachment or node, who made new
 * ones, who tainted. A few lines a run; everything else is left out, so it costs next to nothing.
 * Subresources are named apart: kubelet's own `pods/status` and `nodes/status` are not meant.
 */
const rules = [
  // With the body, which has the grace period and the pod that is meant.
  { level: 'Request', verbs: ['delete', 'deletecollection'], resources: core('pods', 'nodes') },
  { level: 'Request', verbs: ['create'], resources: core('pods/eviction') },
  { level: 'Request', verbs: ['patch'], resources: core('nodes') },
  { level: 'Metadata', verbs: ['create', 'patch', 'update'], resources: core('pods') },
  { level: 'Metadata', verbs: ['create', 'update'], resources: core('nodes') },
  {
    level: 'Metadata',
    verbs: ['create', 'delete', 'deletecollection', 'patch', 'update'],
    resources: [{ group: 'storage.k8s.io', resources: ['volumeattachments'] }],
  },
  { level: 'None' },
];

const auditPolicy: string = stringify({
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  // One line a request, written when it was answered.
  omitStages: ['RequestReceived', 'ResponseStarted'],
  rules,
});

/** Grows when clusters made by an older version can't be reused. */
const format = 4;

/** Whether the controller manager detaches by force once the wait is over. */
export type ForceDetach = 'on' | 'off';

/** What its nodes do when they are shut down. */
export interface NodeShutdown {
  /** The kubelets' grace period. */
  readonly graceMs: number;
  readonly driverEnds: Scenario['fault']['driverEnds'];
}

export const asStock: NodeShutdown = { graceMs: 0, driverEnds: 'last' };

export interface ClusterConfig {
  readonly images: ImageSet;
  readonly workers: number;
  readonly timers: ClusterTimers;
  readonly forceDetach: ForceDetach;
  readonly featureGates: FeatureGates;
  readonly admission: Scenario['kubernetes']['admission'];
  /** Default: as stock. */
  readonly shutdown?: NodeShutdown | undefined;
  /** How its nodes reach their disks. */
  readonly transport: Transport;
}

/**
 * 16 hex digits. The images of driver and array are left out: they are renewed at each start, so an
 * edit of the disk costs no cluster.
 */
export function configHash(config: ClusterConfig): string {
  const { images, workers, timers, forceDetach, admission, shutdown, transport } = config;
  const ids = Object.entries(images.ids)
    .filter(([name]) => name !== 'driver' && name !== 'array')
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  const kubernetes = images.kubernetesVersion;
  const gates = Object.entries(config.featureGates).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const made = {
    format,
    kubernetes,
    node: images.node,
    ids,
    workers,
    timers,
    forceDetach,
    ...(shutdown === undefined || shutdown.graceMs === 0 ? {} : { shutdown }),
    transport,
    gates,
    ...(admission === 'open' ? {} : { admission }),
  };
  const text = JSON.stringify(made);
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
