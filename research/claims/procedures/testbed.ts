/** A cluster without a database, for procedures: what they make on it is gone when it is closed. */
import type { Capability } from '../../../lib/capabilities.ts';
import type { Closes, KubernetesTestbed } from '../../../lib/cluster/port.ts';
import { kindControlPlane } from '../../../lib/cluster/kind/create/control-plane.ts';
import type { OpenCluster } from '../../../lib/cluster/kind/create/open-cluster.ts';
import type { KubeClients } from '../../../lib/kube.ts';
import { kubernetesOf } from '../../../lib/cluster/kind/kubernetes.ts';
import { observeCluster } from '../../../lib/cluster/kind/observe/cluster.ts';
import { versionsOf } from '../../../lib/cluster/kind/observe/versions.ts';
import type { RealClock } from '../../../lib/real-clock.ts';
import { restoreNodes, unmarkNodes } from '../../../lib/cluster/kind/undo-remedies.ts';
import { defaultGraceS } from './objects.ts';
import {
  labelSelector,
  namespace,
  removeObjects,
} from '../../../lib/cluster/kind/procedure/remove.ts';

export interface ProcedureTestbed
  extends Omit<KubernetesTestbed<Capability>, 'startWriters' | 'shell'>,
    Required<Pick<KubernetesTestbed, 'shell'>>,
    Closes,
    Pick<OpenCluster, 'cluster' | 'images'> {
  readonly clients: KubeClients;
}

export interface ProcedureTestbedOptions extends OpenCluster {
  readonly clock: RealClock;
  readonly tolerationMs: number;
  readonly signal: AbortSignal;
}

/** The cluster outlives the testbed. */
export async function openProcedureTestbed({
  cluster,
  images,
  clock,
  tolerationMs,
  signal,
}: ProcedureTestbedOptions): Promise<ProcedureTestbed> {
  const { lab, controlPlane, nodes } = cluster;
  const clients = await cluster.kube();
  await removeObjects(clients, lab, signal);
  const versions = await versionsOf(cluster, images);
  const opened = new AsyncDisposableStack();
  opened.defer(() => removeObjects(clients, lab));
  opened.defer(() => unmarkNodes(clients));
  opened.defer(() => restoreNodes(cluster));
  const scope = { namespace, podSelector: labelSelector };
  return {
    ...{ clock, versions, nodes, cluster, images, clients },
    timers: { ...cluster.timers, tolerationMs, terminationGraceMs: defaultGraceS * 1000 },
    kubernetes: kubernetesOf(clients, controlPlane),
    controlPlane: kindControlPlane(controlPlane),
    machine: (node) => cluster.machine(node),
    shell: (node) => cluster.machine(node).shell,
    observe: (recorder) => observeCluster(cluster, scope, clock, recorder),
    close: () => opened.disposeAsync(),
  };
}
