/** One volume and its database on a real cluster, observed and broken for real. */
import pLimit from 'p-limit';
import type { LimitFunction } from 'p-limit';
import type { ImageEvidence, Recorder, VolumeIdentity } from '../history/index.ts';
import {
  copyPath,
  defaultRoot,
  filesCopyPath,
  layoutOf,
  decodeRows,
  type AuditMessage,
} from '../storage/index.ts';
import {
  EvidenceError,
  InfrastructureError,
  type KubeClients,
  type RealClock,
} from '../core/index.ts';
import {
  type Auditor,
  type RealDatabase,
  realOf,
  type DatabaseServer,
  type BreakableTestbed,
  type Closes,
  type Testbed,
  type TestbedOptions,
  withPodTimers,
} from '../run/index.ts';
import { auditHeap, type Lab, labNode } from './disk/containers.ts';
import { isDirectory } from '../scenario/index.ts';
import { Routes, startWriterProcesses } from './clients/writers.ts';
import type { Cluster, OpenCluster } from './cluster.ts';
import { provisioningOf, type DatabasePod, deployDatabase, removeDatabase } from './database.ts';
import { podSelectorOf, type RunScope } from './scope.ts';
import { kindControlPlane } from './create/control-plane.ts';
import { diskTool, kindDisk } from './disk/disk.ts';
import { kubernetesOf, nodeKubernetesOf } from './kubernetes.ts';
import { restartKubelet } from './nodes/acts.ts';
import { observeCluster, versionsOf } from './observe/cluster.ts';
import { observeLogs } from './observe/logs.ts';
import { auditLoopOf } from './ownership/lease.ts';

interface KindAuditorOptions {
  /** The database's own program that audits. */
  readonly real: Pick<RealDatabase, 'auditTool'>;
  readonly lab: Lab;
  /** Number of a loop device that is leased to this cluster and used for nothing else. */
  readonly loop: number;
  /** The volume is a shared directory, and so are its copies. Default false. */
  readonly isDirectory?: boolean;
  readonly seed: string;
  /** Label of the disk's copy of an image. Default: the image's own label. */
  readonly copyLabel?: (image: string) => string;
  /** Called as each step of an audit begins. Default: nobody is told. */
  readonly onStep?: (image: string, step: string) => void;
}

/** A machine that is busy with three events needs seconds for an answer. */
const timeoutMs = 120_000;
/** Whether the lab still answers is asked so often. */
const askEveryMs = 60_000;

export function kindAuditor(options: KindAuditorOptions): Auditor {
  const { real, lab, loop, seed, copyLabel = (image) => image, onStep } = options;
  // Where the lab has this project.
  const toolPath = `/app/${real.auditTool}`;
  const pathOf = options.isDirectory === true ? filesCopyPath : copyPath;
  return {
    async audit(image, onRow, signal): Promise<ImageEvidence> {
      signal?.throwIfAborted();
      const path = pathOf(layoutOf(defaultRoot), copyLabel(image));
      const target = ['--image', path, '--loop', String(loop), '--run-seed', seed];
      const argv = [...labNode, ...auditHeap, toolPath, ...target, '--until-stdin-ends'];
      const { promise, resolve, reject } = Promise.withResolvers<ImageEvidence>();
      const onLine = (line: string): void => {
        try {
          const message = JSON.parse(line) as AuditMessage;
          if (message.type === 'rows') decodeRows(message, onRow);
          else if (message.type === 'step') onStep?.(image, message.step);
          else resolve(message.evidence);
        } catch (cause) {
          reject(unreadable(line, cause));
        }
      };
      await using stream = await lab.stream(argv, onLine);
      stream.closed.then(() => reject(new EvidenceError('AUDIT_ENDED', 'it was ended')), reject);
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      // An audit may be silent for minutes; a lab that does not answer meanwhile will never tell.
      const asking = setInterval(() => lab.exec(['true'], { timeoutMs }).catch(reject), askEveryMs);
      try {
        return await promise;
      } finally {
        clearInterval(asking);
      }
    },
  };
}

function unreadable(line: string, cause: unknown): EvidenceError {
  const what = `the audit tool wrote a line that cannot be read: ${line.slice(0, 200)}`;
  return new EvidenceError('AUDIT_UNREADABLE', what, { cause });
}

/** Size of the volume; sparse, so it takes what the server writes. */
const volumeBytes = 2 * 1024 ** 3;

/**
 * A start is seconds of a whole core and as many of waiting: eight at once are not Ready in time. The
 * runs of all clusters share these turns. Where two events of eight started two at a time each, their
 * faults began after 431 and 641 s; one alone began after 205 s.
 */
const startInTurn = pLimit(2);
/**
 * For all clusters: each fills the memory with pages to be written, and at the kernel's limit of those
 * whoever writes waits, the runner too. Beside the copies of three events it stood for 3.3 s.
 */
const copyInTurn = pLimit(1);
/** With one at a time the last images of 24 volumes were audited twelve minutes after their copies. */
const auditInTurn = pLimit(2);

/** Where a volume lives, alone on the cluster or beside others. */
interface VolumePlace {
  readonly scope: RunScope;
  /** Other runs work on the cluster, too. */
  readonly isShared: boolean;
  /** Copies of several volumes lie side by side. */
  readonly copyLabel: (image: string) => string;
  /** They mount their copies with the same loop device. */
  readonly auditsInTurn: LimitFunction;
}

interface KindTestbedOptions extends TestbedOptions, OpenCluster {
  readonly clock: RealClock;
  readonly place: VolumePlace;
}

export type KindTestbed = Testbed & Closes;

/** What every volume of the cluster shares. */
export const breakable = (
  { controlPlane, nodes, machine }: Cluster,
  clients: KubeClients,
  clock: RealClock,
): Required<BreakableTestbed> => ({
  ...{ clock, nodes, machine },
  kubernetes: nodeKubernetesOf(clients, controlPlane),
  controlPlane: kindControlPlane(controlPlane),
  shell: (node) => machine(node).shell,
});

/** A clean slate, a new volume, the database Ready on it with an empty ledger. Leaves the cluster up. */
export async function openKindTestbed(options: KindTestbedOptions): Promise<KindTestbed> {
  const { cluster, clock, images, scenario, runId, seed, folder, signal, place } = options;
  const { lab, controlPlane } = cluster;
  const { scope, isShared } = place;
  const { originNs } = clock;
  const real = realOf(options.database);
  const server = await real.server();
  // Undone in reverse order, each step whatever becomes of the others.
  await using opening = new AsyncDisposableStack();
  // What goes with the cluster need not go before it, and could not where its array or its lab died.
  const defer = (work: () => Promise<void>): void => {
    if (cluster.kept || isShared) opening.defer(work);
  };
  const relays = cluster.newRelays();
  defer(() => relays.closeAll());
  const clients = await cluster.kube();
  if (!isShared) await removeDatabase(clients, { signal, scope });
  let handle = `fd-${runId}`;
  // One that was provisioned is gone by then.
  defer(() => diskTool(lab, 'remove-volume', { volume: handle }));
  const wakeKubelets = async (): Promise<void> => {
    const shells = cluster.nodes.map((node) => cluster.machine(node).shell);
    await Promise.allSettled(shells.map(restartKubelet));
  };
  const remove = async (timeoutMs: number, keepProvisioned: boolean): Promise<void> => {
    // What hangs is not unmounted.
    await diskTool(lab, 'let-go', { volume: handle });
    await removeDatabase(clients, {
      ...{ scope, signal: AbortSignal.timeout(timeoutMs), keepProvisioned },
      // Others on these nodes may still be in the middle of their runs.
      wake: isShared ? undefined : wakeKubelets,
    });
  };
  defer(() => remove(120_000, false));
  const pod = await startDatabase(options, clients, handle);
  const provisioning =
    scenario.volume.provision === 'static'
      ? undefined
      : await provisioningOf(clients, { lab, scope, originNs });
  handle = provisioning?.handle ?? handle;
  const observed = { ...scope, volumeName: provisioning?.volumeName ?? scope.volumeName };
  const routes = new Routes(relays);
  await routes.start(pod);
  await server.prepareSchema(routes);
  const identity = await volumeIdentity(cluster, handle, { routes, server });
  const versions = await versionsOf(cluster, images);
  const opened = opening.move();

  return {
    ...breakable(cluster, clients, clock),
    timers: withPodTimers(cluster.timers, {
      tolerationMs: scenario.timers.toleration,
      terminationGraceMs: scenario.workload.terminationGrace,
    }),
    versions,
    volume: provisioning === undefined ? identity : { ...identity, provisioning },
    kubernetes: kubernetesOf(clients, controlPlane, provisioning === undefined ? scope : observed),
    ...copiesOf(options, handle),
    observe: (recorder) => observe(options, { routes, handle, scope: observed }, recorder),
    startWriters: (specs) => startWriterProcesses({ specs, real, folder, originNs, seed, routes }),
    // Its writes are not exported yet.
    removeDatabase: () => remove(30_000, true).catch(() => undefined),
    close: () => opened.disposeAsync(),
  };
}

/** The disk, which makes copies of the volume, and the auditor, which finds them under the same names. */
function copiesOf(
  { cluster, clock: { originNs }, database, scenario, seed, place }: KindTestbedOptions,
  volume: string,
): Pick<Testbed, 'disk' | 'auditor'> {
  const { lab, machine, storage } = cluster;
  const { copyLabel, auditsInTurn } = place;
  const {
    disk: { mode },
    fault,
  } = scenario;
  const disk = kindDisk({
    lab,
    storage,
    volume,
    mode,
    powerLoss: fault.powerLoss,
    seed,
    originNs,
    machine,
    copyLabel,
  });
  const loop = auditLoopOf(cluster.loops, cluster.pool);
  const copies = { isDirectory: isDirectory(mode), seed, copyLabel };
  const auditor = kindAuditor({ real: realOf(database), lab, loop, ...copies });
  return {
    disk: { ...disk, copy: (...copy) => copyInTurn(() => disk.copy(...copy)) },
    auditor: {
      audit: (...audit) => auditsInTurn(() => auditInTurn(() => auditor.audit(...audit))),
    },
  };
}

function startDatabase(
  { cluster, database, images, scenario, signal, onProgress, place }: KindTestbedOptions,
  clients: KubeClients,
  volume: string,
): Promise<DatabasePod> {
  return startInTurn(async () => {
    signal?.throwIfAborted();
    // Here, so that the volumes of one event don't lose their place to a later one's.
    if (scenario.volume.provision === 'static') {
      const blank = { volume, 'size-bytes': volumeBytes, mode: scenario.disk.mode };
      await diskTool(cluster.lab, 'create-volume', blank);
    }
    onProgress(`${database.title} starts on an empty volume`);
    return deployDatabase(clients, {
      image: images.database,
      driverImage: images.driver,
      apiHost: cluster.addresses.get(cluster.controlPlane) ?? cluster.controlPlane,
      volumeHandle: volume,
      sizeBytes: volumeBytes,
      choice: scenario,
      signal,
      scope: place.scope,
      ...(place.isShared ? { nodes: cluster.nodes } : {}),
    });
  });
}

async function observe(
  { cluster, clock, scenario, place: { isShared } }: KindTestbedOptions,
  { routes, handle, scope }: { routes: Routes; handle: string; scope: RunScope },
  recorder: Recorder,
): Promise<AsyncDisposable> {
  const { namespace, volumeName: name } = scope;
  const podSelector = podSelectorOf(scope);
  const watched = { namespace, podSelector, volume: { handle, name }, isShared };
  await using stack = new AsyncDisposableStack();
  stack.defer(recorder.subscribe((record) => routes.see(record)));
  stack.use(await observeCluster(cluster, watched, clock, recorder));
  const logs = scenario.selfFence.kind === 'off' ? [] : (['self-fence'] as const);
  for (const log of ['server', ...logs] as const) {
    stack.use(observeLogs(log, cluster, recorder, clock, { namespace }));
  }
  return stack.move();
}

/**
 * What tells this run's volume from every other one, asked while its database is new: the disk tells of
 * the file system on it, and the server through the outside route of its data.
 */
async function volumeIdentity(
  { lab }: Cluster,
  volume: string,
  { routes, server }: { routes: Routes; server: DatabaseServer },
): Promise<VolumeIdentity> {
  const socketPath = routes.get('outside');
  if (socketPath === undefined) {
    throw new InfrastructureError('NO_ROUTE', 'no relay leads to the database yet');
  }
  const serverUuid = await server.identify(socketPath);
  return { ...(await diskTool(lab, 'identify', { volume })), serverUuid };
}
