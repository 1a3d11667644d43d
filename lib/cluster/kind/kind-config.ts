/** kind's configuration and kubeadm's patches: pure text from a lease, timers and images. */
import { stringify } from 'yaml';
import type { Lease } from './lease.ts';
import { goDuration, stockClusterTimers, type ClusterTimers } from './timers.ts';

/** Where the cluster's volume is mounted in every node and in the lab. */
export const sharedDir = '/var/lib/forcedetach';
/** Where the run's socket directory is mounted in the lab. */
export const socketDir = '/run/forcedetach';
/** Where kubeadm finds its patches on the control plane. */
const patchesDir = '/etc/forcedetach/patches';

/** Environment variable of the locally built controller manager. */
const forceDetachVariable = 'FORCEDETACH_MAX_WAIT_FOR_UNMOUNT';

/** Whether the controller manager detaches by force once the wait is over. */
export type ForceDetach = 'on' | 'off';

export interface KindConfigOptions {
  readonly name: string;
  readonly nodeImage: string;
  readonly workers: number;
  readonly lease: Lease;
  readonly timers: ClusterTimers;
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
    kubeadmConfigPatches: kubeadmConfigPatches(options),
    nodes: [
      { role: 'control-plane', ...node, extraMounts: [shared, patches] },
      ...Array.from({ length: options.workers }, () => ({ role: 'worker', ...node })),
    ],
  });
}

function kubeadmConfigPatches(options: KindConfigOptions): string[] {
  return [
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
      ...(options.lacksSysResource ? { featureGates: { KubeletInUserNamespace: true } } : {}),
    },
  ].map((patch) => stringify(patch));
}

function kubeletTimers(timers: ClusterTimers): Record<string, unknown> {
  if (timers.nodeMonitorGraceMs === stockClusterTimers.nodeMonitorGraceMs) return {};
  return {
    nodeLeaseDurationSeconds: timers.kubeletLeaseMs / 1_000,
    nodeStatusUpdateFrequency: goDuration(timers.kubeletStatusMs),
    // Unset it would follow the update frequency, which stock kubelets do not do.
    nodeStatusReportFrequency: '5m0s',
  };
}

/**
 * Files for kubeadm's patches directory, by name. Patches of the static pod rather than extraArgs:
 * these are maps in kubeadm v1beta3 and lists in v1beta4.
 */
export function kubeadmPatches(
  timers: ClusterTimers,
  forceDetach: ForceDetach = 'on',
): Readonly<Record<string, string>> {
  const stock = stockClusterTimers;
  const files: Record<string, string> = {};
  const flags = forceDetach === 'off' ? ['--disable-force-detach-on-timeout=true'] : [];
  if (timers.nodeMonitorGraceMs !== stock.nodeMonitorGraceMs) {
    flags.push(
      `--node-monitor-grace-period=${goDuration(timers.nodeMonitorGraceMs)}`,
      `--node-monitor-period=${goDuration(timers.nodeMonitorPeriodMs)}`,
    );
  }
  if (flags.length > 0) {
    files['kube-controller-manager+json.yaml'] = stringify(
      flags.map((value) => ({ op: 'add', path: '/spec/containers/0/command/-', value })),
    );
  }
  if (timers.forceDetachAfterMs !== stock.forceDetachAfterMs) {
    const wait = { name: forceDetachVariable, value: goDuration(timers.forceDetachAfterMs) };
    files['kube-controller-manager+strategic.yaml'] = stringify({
      spec: { containers: [{ name: 'kube-controller-manager', env: [wait] }] },
    });
  }
  return files;
}
