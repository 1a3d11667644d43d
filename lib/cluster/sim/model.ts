/**
 * The model: every actor on one kernel, synchronous and free of promises, so that a sweep can drive
 * it directly. The façade puts the port's promises on top.
 */
import type { Scenario } from '../../experiment/scenario.ts';
import type { Timers } from '../../history/events.ts';
import { randomStream } from '../../random.ts';
import { startAttachDetach } from './actors/attach-detach.ts';
import { startAttacher } from './actors/attacher.ts';
import { Kubelet } from './actors/kubelet.ts';
import { startNodeMonitor } from './actors/node-monitor.ts';
import { startPodGc } from './actors/pod-gc.ts';
import { startStatefulSet } from './actors/stateful-set.ts';
import { startTaintEviction } from './actors/taint-eviction.ts';
import { Api } from './api.ts';
import { Volume } from './disk/volume.ts';
import type { Kernel } from './kernel.ts';
import { NodeMachine } from './machine.ts';
import type { Server } from './mysqld.ts';
import { kubernetesTimes, msUs, secondUs } from './timings.ts';
import type { Settings, World } from './world.ts';

export interface Model {
  readonly world: World;
  readonly volume: Volume;
  /** By name. */
  readonly kubelets: ReadonlyMap<string, Kubelet>;
  /** Throws on a name that no node has. */
  readonly kubelet: (node: string) => Kubelet;
  /** The server that clients can connect to on this node. */
  readonly serverOn: (node: string) => Server | undefined;
}

export const modelNodes: readonly string[] = ['sim-worker', 'sim-worker2'];

export function startModel(kernel: Kernel, scenario: Scenario, seed: string): Model {
  const api = new Api((sighting) => world.see(sighting));
  const world: World = {
    kernel,
    chance: randomStream(seed).stream('model'),
    settings: settingsOf(scenario),
    api,
    see: () => undefined,
  };
  const volume = new Volume({
    clock: kernel,
    ignoresFlushes: scenario.flushes === 'ignored',
    ...(scenario.disk === 'shared-file' ? { files: scenario.fileLocks } : {}),
  });
  for (const name of modelNodes) api.addNode(name);
  const kubelets = new Map(
    modelNodes.map((name) => [name, new Kubelet(world, new NodeMachine(kernel, name), volume)]),
  );
  startNodeMonitor(world);
  startTaintEviction(world);
  startPodGc(world);
  startAttachDetach(world);
  startAttacher(world, volume);
  startStatefulSet(world);
  api.createPod();

  const kubelet = (node: string): Kubelet => {
    const found = kubelets.get(node);
    if (found === undefined) throw new RangeError(`the model has no node ${node}`);
    return found;
  };
  const serverOn = (node: string): Server | undefined => kubelet(node).container?.server;
  return { world, volume, kubelets, kubelet, serverOn };
}

const settingsOf = (scenario: Scenario): Settings => ({
  ...scenario,
  graceUs: scenario.graceMs * msUs,
  tolerationUs: scenario.tolerationMs * msUs,
  forceDetachAfterUs: scenario.forceDetachAfterMs * msUs,
  cutAfterUs: scenario.cutAfterMs * msUs,
  terminationGraceUs: scenario.terminationGraceS * secondUs,
});

export const timersOf = (scenario: Scenario): Timers => ({
  nodeMonitorGraceMs: scenario.graceMs,
  nodeMonitorPeriodMs: kubernetesTimes.nodeMonitorUs / msUs,
  kubeletLeaseMs: kubernetesTimes.leaseUs / msUs,
  kubeletStatusMs: kubernetesTimes.statusUpdateUs / msUs,
  tolerationMs: scenario.tolerationMs,
  forceDetachAfterMs: scenario.forceDetachAfterMs,
  terminationGraceMs: scenario.terminationGraceS * 1000,
});
