/** What is seen of a cluster in every run on it, whatever runs there. */
import type { Recorder } from '../../../history/port.ts';
import type { Cluster } from '../cluster.ts';
import type { RealClock } from '../../../real-clock.ts';
import { observeApi } from './api.ts';
import { observeAudit } from './audit.ts';
import { observeDisk } from './disk.ts';
import { observeForcedDetaches } from './controller-manager.ts';
import { observeControllerManager } from './logs.ts';
import { observeMachine } from './machine.ts';

export interface ObservedScope {
  readonly namespace: string;
  readonly podSelector: string;
  /** Handle of the only CSI volume that is meant, and name of its PersistentVolume. Default: all. */
  readonly volume?: { readonly handle: string; readonly name: string };
  /** Other runs work on other nodes of the cluster. Default false. */
  readonly isShared?: boolean;
}

export async function observeCluster(
  cluster: Cluster,
  { namespace, podSelector, volume, isShared = false }: ObservedScope,
  clock: RealClock,
  recorder: Recorder,
): Promise<AsyncDisposable> {
  const { config: kubeConfig } = await cluster.kube();
  const nodes = [cluster.controlPlane, ...cluster.nodes];
  const { handle, name } = volume ?? {};
  await using stack = new AsyncDisposableStack();
  stack.use(observeMachine(recorder));
  const watched = { ...cluster, ...(handle === undefined ? {} : { volume: handle }) };
  stack.use(await observeDisk(watched, recorder, clock.originNs));
  stack.use(observeControllerManager(cluster, recorder, clock, handle));
  stack.use(observeAudit(cluster, recorder, clock, namespace));
  const only = name === undefined ? {} : { volumeName: name };
  stack.use(await observeApi({ kubeConfig, namespace, podSelector, nodes, ...only }, recorder));
  // The counter is of the whole cluster: it says nothing of one volume beside others.
  if (!isShared) stack.use(await observeForcedDetaches(cluster, recorder));
  return stack.move();
}
