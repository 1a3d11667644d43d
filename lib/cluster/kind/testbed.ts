/** One volume and its database on a real cluster, observed and broken for real. */
import type { LimitFunction } from 'p-limit';
import { database } from '../../database/chosen.ts';
import type { ServerRoutes } from '../../database/server-port.ts';
import { databaseServer } from '../../database/server.ts';
import { isDirectory } from '../../disk-modes/index.ts';
import { InfrastructureError } from '../../errors.ts';
import type { VolumeIdentity } from '../../storage/identity.ts';
import type { Provisioning } from '../../storage/identity.ts';
import type { Recorder } from '../../history/port.ts';
import type { Closes, Testbed, TestbedOptions } from '../port.ts';
import { withPodTimers } from '../timers.ts';
import type { KindMachine } from './nodes/machine.ts';
import { kindAuditor } from './auditor.ts';
import { Routes } from './clients/routes.ts';
import { startWriterProcesses } from './clients/writers.ts';
import type { Cluster } from './cluster.ts';
import type { OpenCluster } from './create/open-cluster.ts';
import { kindControlPlane } from './create/control-plane.ts';
import { type DatabasePod, deployDatabase, removeDatabase } from './database.ts';
import { createVolume, identifyVolume, removeVolume } from './disk/disk-tool.ts';
import { kindDisk } from './disk/disk.ts';
import type { Lab } from './disk/lab.ts';
import { auditingInTurn, copyingInTurn, startInTurn } from './in-turn.ts';
import type { KubeClients } from '../../kube.ts';
import { kubernetesOf, podSelector } from './kubernetes.ts';
import { wakeKubelets } from './nodes/agents.ts';
import { observeCluster } from './observe/cluster.ts';
import { observeSelfFences, observeServerLogs } from './observe/logs.ts';
import { versionsOf } from './observe/versions.ts';
import { auditLoopOf } from './ownership/lease.ts';
import { type RunScope, scopeBeside, soleScope } from './run-scope.ts';
import { provisioningOf } from './provisioned.ts';
import type { RealClock } from '../../real-clock.ts';

/** Size of the volume; sparse, so it takes what the server writes. */
const volumeBytes = 2 * 1024 ** 3;

export interface KindTestbedOptions extends TestbedOptions, OpenCluster {
  readonly clock: RealClock;
  /** Audits of the run's volumes, which take turns: they mount their copies with the same loop device. */
  readonly audits: LimitFunction;
  /** Its number among the run's volumes, where others are on the cluster, too. Default: it is alone there. */
  readonly beside?: number;
}

export type KindTestbed = Testbed & Closes;

/** A clean slate, a new volume, the database Ready on it with an empty ledger. Leaves the cluster up. */
export async function openKindTestbed(options: KindTestbedOptions): Promise<KindTestbed> {
  const { cluster, clock, images, scenario, runId, seed, folder, signal, beside } = options;
  const scope = scopeOf(options);
  const relays = cluster.newRelays();
  // Undone in reverse order, each step whatever becomes of the others.
  await using opening = new AsyncDisposableStack();
  // What goes with the cluster need not go before it, and could not where its array or its lab died.
  const goesWithIt = !cluster.kept && beside === undefined;
  const deferUnless = (work: () => Promise<void>): void => {
    if (!goesWithIt) opening.defer(work);
  };
  deferUnless(() => relays.closeAll());
  const clients = await cluster.kube();
  if (beside === undefined) await removeDatabase(clients, { signal });
  let handle = `fd-${runId}`;
  // One that was provisioned is gone by then.
  deferUnless(() => removeVolume(cluster.lab, handle));
  // Others on these nodes may still be in the middle of their runs.
  const wake =
    beside === undefined
      ? () => wakeKubelets(cluster.nodes.map((node) => cluster.machine(node).shell))
      : undefined;
  const remove = (timeoutMs: number, keepProvisioned: boolean): Promise<void> => {
    const signal = AbortSignal.timeout(timeoutMs);
    return removeDatabase(clients, { scope, signal, wake, keepProvisioned });
  };
  deferUnless(() => remove(120_000, false));
  const pod = await startDatabase(options, clients, handle);
  const provisioning = await provisioningIn(options, clients);
  const volume = provisioning?.handle ?? handle;
  handle = volume;
  const observed =
    provisioning === undefined ? scope : { ...scope, volumeName: provisioning.volumeName };
  const routes = new Routes(relays);
  await routes.start(pod);
  await databaseServer.prepareSchema(routes);
  const identity = await volumeIdentity(cluster.lab, volume, routes);
  const versions = await versionsOf(cluster, images);
  const opened = opening.move();

  return {
    clock,
    timers: timersOf(cluster, scenario),
    versions,
    nodes: cluster.nodes,
    volume: provisioning === undefined ? identity : { ...identity, provisioning },
    kubernetes: kubernetesOf(clients, cluster.controlPlane, observed),
    controlPlane: kindControlPlane(cluster.controlPlane),
    ...copiesOf(options, volume),
    machine: (node) => cluster.machine(node),
    shell: (node) => cluster.machine(node).shell,
    observe: (recorder) => observe(options, { routes, volume, scope: observed }, recorder),
    startWriters: (specs) =>
      startWriterProcesses({ specs, folder, originNs: clock.originNs, seed, routes }),
    // Its writes are not exported yet.
    removeDatabase: () => remove(30_000, true).catch(() => undefined),
    close: () => opened.disposeAsync(),
  };
}

/** The disk, which makes copies of the volume, and the auditor, which finds them under the same names. */
function copiesOf(options: KindTestbedOptions, volume: string): Pick<Testbed, 'disk' | 'auditor'> {
  const { cluster, clock, scenario, seed, audits } = options;
  const { lab } = cluster;
  const { originNs } = clock;
  const copyLabel = copyLabelOf(options);
  const { disk: mode, powerLoss } = scenario;
  const machine = (node: string): KindMachine => cluster.machine(node);
  const loop = auditLoopOf(cluster.loops, cluster.pool);
  return {
    disk: copyingInTurn(
      kindDisk({ lab, volume, mode, powerLoss, seed, originNs, machine, copyLabel }),
    ),
    auditor: auditingInTurn(
      kindAuditor({ lab, loop, isDirectory: isDirectory(mode), seed, copyLabel }),
      audits,
    ),
  };
}

function startDatabase(
  options: KindTestbedOptions,
  clients: KubeClients,
  volume: string,
): Promise<DatabasePod> {
  const { cluster, images, scenario, signal, onProgress, beside } = options;
  return startInTurn(async () => {
    signal?.throwIfAborted();
    // Here, so that the volumes of one event don't lose their place to a later one's.
    if (scenario.provision === 'static')
      await createVolume(cluster.lab, { volume, sizeBytes: volumeBytes, mode: scenario.disk });
    onProgress(`${database.title} starts on an empty volume`);
    return deployDatabase(clients, {
      image: images.database,
      driverImage: images.driver,
      apiHost: cluster.addresses.get(cluster.controlPlane) ?? cluster.controlPlane,
      volumeHandle: volume,
      sizeBytes: volumeBytes,
      choice: scenario,
      signal,
      scope: scopeOf(options),
      ...(beside === undefined ? {} : { nodes: cluster.nodes }),
    });
  });
}

/** Undefined where the volume was there before its claim. */
async function provisioningIn(
  options: KindTestbedOptions,
  clients: KubeClients,
): Promise<Provisioning | undefined> {
  const { scenario, cluster, clock } = options;
  if (scenario.provision === 'static') return undefined;
  const { originNs } = clock;
  return provisioningOf(clients, { lab: cluster.lab, scope: scopeOf(options), originNs });
}

const scopeOf = ({ beside, runId }: KindTestbedOptions): RunScope =>
  beside === undefined ? soleScope : scopeBeside(runId);

/** Copies of several volumes lie side by side. */
const copyLabelOf =
  ({ beside, cluster }: KindTestbedOptions): ((image: string) => string) =>
  (image) =>
    beside === undefined ? image : `${cluster.pool}-${beside}-${image}`;

interface Observed {
  readonly routes: Routes;
  /** Handle. */
  readonly volume: string;
  readonly scope: RunScope;
}

async function observe(
  options: KindTestbedOptions,
  { routes, volume, scope }: Observed,
  recorder: Recorder,
): Promise<AsyncDisposable> {
  const { cluster, clock, scenario, beside } = options;
  const { namespace, volumeName: name } = scope;
  const isShared = beside !== undefined;
  const watched = { namespace, podSelector, volume: { handle: volume, name }, isShared };
  await using stack = new AsyncDisposableStack();
  stack.defer(recorder.subscribe((record) => routes.see(record)));
  stack.use(await observeCluster(cluster, watched, clock, recorder));
  stack.use(observeServerLogs(cluster, recorder, clock, scope));
  if (scenario.selfFence !== 'off') {
    stack.use(observeSelfFences(cluster, recorder, clock, scope));
  }
  return stack.move();
}

const timersOf = (
  { timers }: Cluster,
  { tolerationMs, terminationGraceS }: TestbedOptions['scenario'],
): Testbed['timers'] =>
  withPodTimers(timers, { tolerationMs, terminationGraceMs: terminationGraceS * 1000 });

/**
 * What tells this run's volume from every other one, asked while its database is new: the disk tells of
 * the file system on it, and the server through the outside route of its data.
 */
async function volumeIdentity(
  lab: Lab,
  volume: string,
  routes: ServerRoutes,
): Promise<VolumeIdentity> {
  const socketPath = routes.get('outside');
  if (socketPath === undefined) {
    throw new InfrastructureError('NO_ROUTE', 'no relay leads to the database yet');
  }
  const serverUuid = await databaseServer.identify(socketPath);
  return { ...(await identifyVolume(lab, volume)), serverUuid };
}
