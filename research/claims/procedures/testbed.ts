/** A cluster without a database, for procedures: what they make on it is gone when it is closed. */
import type { Capability, KubeClients, RealClock } from '../../../lib/core/index.ts';
import type { Closes, KubernetesTestbed } from '../../../lib/run/index.ts';
import {
  kindControlPlane,
  kubernetesOf,
  soleScope,
  procedures,
  observeCluster,
  type OpenCluster,
  removeProcedures,
  restoreNodes,
  unmarkNodes,
  versionsOf,
} from '../../../lib/kind/index.ts';
import { defaultGraceS } from './objects.ts';

export interface ProcedureTestbed
  extends Omit<
      KubernetesTestbed<Exclude<Capability, 'standby-manager' | 'node-clock'>>,
      'startWriters' | 'shell'
    >,
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
  await removeProcedures(clients, lab, signal);
  const versions = await versionsOf(cluster, images);
  const opened = new AsyncDisposableStack();
  opened.defer(() => removeProcedures(clients, lab));
  opened.defer(() => unmarkNodes(clients));
  opened.defer(() => restoreNodes(cluster));
  const scope = { namespace: procedures.namespace, podSelector: procedures.labelSelector };
  return {
    ...{ clock, versions, nodes, cluster, images, clients },
    timers: { ...cluster.timers, tolerationMs, terminationGraceMs: defaultGraceS * 1000 },
    kubernetes: kubernetesOf(clients, controlPlane, soleScope(cluster.database)),
    controlPlane: kindControlPlane(controlPlane),
    machine: (node) => cluster.machine(node),
    shell: (node) => cluster.machine(node).shell,
    observe: (recorder) => observeCluster(cluster, scope, clock, recorder),
    close: () => opened.disposeAsync(),
  };
}
