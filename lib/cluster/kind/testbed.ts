/** The testbed on kind: one volume and one MySQL on a real cluster, observed and broken for real. */
import type { ImageSet } from '../../images/image-set.ts';
import type { Clock } from '../clock.ts';
import type { Recorder, Testbed, TestbedOptions } from '../port.ts';
import { kindAuditor } from './audit/auditor.ts';
import type { Cluster } from './cluster.ts';
import { kindControlPlane } from './control-plane.ts';
import { deployDatabase, removeDatabase } from './database.ts';
import { kindDisk } from './disk.ts';
import { createVolume, removeVolume } from './disk-tool.ts';
import { removeGroup } from './group/group-database.ts';
import { kubernetesOf, podSelector } from './kubernetes.ts';
import { observeApi } from './observe-api.ts';
import { observeAudit } from './observe-audit.ts';
import { observeDisk } from './observe-disk.ts';
import { observeForcedDetaches } from './observe-forced-detaches.ts';
import { observeControllerManager, observeSelfFences, observeServerLogs } from './observe-logs.ts';
import { observeMachine } from './observe-machine.ts';
import { Routes } from './routes.ts';
import { restoreNodes } from './restore-nodes.ts';
import { prepareSchema } from './schema.ts';
import { versionsOf } from './versions.ts';
import { startWriterProcesses } from './writers.ts';

/** Size of the volume; sparse, so it takes what MySQL writes. */
const volumeBytes = 2 * 1024 ** 3;

export interface KindTestbedOptions extends TestbedOptions {
  readonly cluster: Cluster;
  readonly images: ImageSet;
  readonly clock: Clock;
  /** CLOCK_MONOTONIC at the run's beginning, nanoseconds. */
  readonly originNs: bigint;
}

/**
 * A clean slate, a new volume, MySQL Ready on it with an empty ledger. Takes the cluster over:
 * closing the testbed releases it, and so does an error here.
 */
export async function openKindTestbed(options: KindTestbedOptions): Promise<Testbed> {
  const { cluster, images, scenario, runId, seed, folder, signal, onProgress } = options;
  // Undone in reverse order, each step whatever becomes of the others.
  await using opening = new AsyncDisposableStack();
  opening.defer(() => cluster.release());
  opening.defer(() => cluster.relays.closeAll());
  const clients = await cluster.kube();
  const volume = `fd-${runId}`;
  await removeGroup(clients, { signal });
  await removeDatabase(clients, { signal });
  opening.defer(() => removeVolume(cluster.lab, volume));
  await createVolume(cluster.lab, { volume, sizeBytes: volumeBytes, mode: scenario.disk });
  onProgress('MySQL starts on an empty volume');
  opening.defer(() => removeDatabase(clients, { signal: AbortSignal.timeout(120_000) }));
  const pod = await deployDatabase(clients, {
    image: images.mysql,
    driverImage: images.driver,
    apiHost: cluster.addresses.get(cluster.controlPlane) ?? cluster.controlPlane,
    volumeHandle: volume,
    sizeBytes: volumeBytes,
    choice: scenario,
    signal,
  });
  const routes = new Routes(cluster.relays);
  await routes.start(pod);
  await prepareSchema(routes);
  const versions = await versionsOf(cluster, images);
  opening.defer(() => restoreNodes(cluster));
  const opened = opening.move();

  return {
    backend: 'kind',
    clock: options.clock,
    timers: {
      ...cluster.timers,
      tolerationMs: scenario.tolerationMs,
      terminationGraceMs: scenario.terminationGraceS * 1000,
    },
    versions,
    nodes: cluster.nodes,
    kubernetes: kubernetesOf(clients, cluster.controlPlane),
    controlPlane: kindControlPlane(cluster.controlPlane),
    disk: kindDisk({
      lab: cluster.lab,
      volume,
      mode: scenario.disk,
      powerLoss: scenario.powerLoss,
      seed,
      originNs: options.originNs,
      machine: (node) => cluster.machine(node),
    }),
    auditor: kindAuditor({
      lab: cluster.lab,
      loop: auditLoop(cluster),
      isDirectory: scenario.disk === 'shared-file',
      seed,
    }),
    machine: (node) => cluster.machine(node),
    observe: (recorder) => observe(options, routes, recorder),
    startWriters: (specs) =>
      startWriterProcesses({ specs, folder, originNs: options.originNs, seed, routes }),
    close: () => opened.disposeAsync(),
  };
}

async function observe(
  { cluster, clock, originNs, scenario }: KindTestbedOptions,
  routes: Routes,
  recorder: Recorder,
): Promise<AsyncDisposable> {
  const clients = await cluster.kube();
  await using stack = new AsyncDisposableStack();
  stack.defer(recorder.subscribe((record) => routes.see(record)));
  stack.use(observeMachine(recorder));
  stack.use(await observeDisk(cluster, recorder, originNs));
  stack.use(observeControllerManager(cluster, recorder, clock));
  stack.use(observeAudit(cluster.controlPlane, recorder, clock));
  stack.use(observeServerLogs(cluster, recorder, clock));
  if (scenario.selfFence !== 'off') stack.use(observeSelfFences(cluster, recorder, clock));
  stack.use(
    await observeApi({ kubeConfig: clients.config, namespace: 'default', podSelector }, recorder),
  );
  stack.use(await observeForcedDetaches(cluster, recorder));
  return stack.move();
}

/** The last of the cluster's leased numbers; the driver takes them from the first on. */
const auditLoop = ({ loops }: Cluster): number => loops.first + loops.count - 1;
