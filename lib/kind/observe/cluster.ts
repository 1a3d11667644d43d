/** What is seen of a cluster in every run on it, whatever runs there. */
import { readFileSync } from 'node:fs';
import { loadavg, release } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { endedByInput, inspect, run } from '../engine/run.ts';
import * as engine from '../engine/commands.ts';
import { starts } from '../engine/commands.ts';
import { type CallEntry, type WatchLine, watchLineSchema } from '../../storage/index.ts';
import {
  beatEveryMs,
  observed,
  declareObserver,
  guarded,
  type Recorder,
  type Unstamped,
  type HistoryRecord,
} from '../../history/index.ts';
import { inLab } from '../disk/containers.ts';
import type { Cluster } from '../cluster.ts';
import { waitFor, type RealClock, zoneLimitsText, harnessVersion } from '../../core/index.ts';
import type { ImageSet } from '../images/image-plan.ts';
import { observeApi } from './api.ts';
import { observeLogs } from './logs.ts';

const watchTool = ['node', '/app/lib/storage/csi/watch-tool.ts'];

export interface Watched extends Pick<Cluster, 'lab' | 'nodes' | 'openStream'> {
  /** Only what concerns this volume. Default: all. */
  readonly volume?: string;
}

/** `originNs`: CLOCK_MONOTONIC at the run's beginning, which the lab's clock shares. */
export async function observeDisk(
  { lab, nodes, openStream, volume }: Watched,
  recorder: Recorder,
  originNs: bigint,
): Promise<AsyncDisposable> {
  const originMs = Number(originNs) / 1e6;
  await using opening = new AsyncDisposableStack();
  const pids = Object.entries(await processesOf(nodes)).map(([node, pid]) => `${node}=${pid}`);
  const command = inLab(lab.container, [...watchTool, '--nodes', pids.join()]);
  const watching = Promise.withResolvers<void>();
  const observer = declareObserver(recorder, {
    observer: 'disk',
    sees: ['csi', 'mounts', 'devices'],
  });
  opening.defer(() => observer.end());
  const hear = (text: string): void => {
    const line = watchLineSchema.parse(JSON.parse(text));
    if (line.type === 'watching') watching.resolve();
    else if (line.type === 'beat') observer.beat(line.monoMs - originMs);
    else if (volume !== undefined && isOther(line, volume)) return;
    else if (line.type === 'call' && !tells(line.entry)) return;
    else recorder.record(recordOf(line, originMs));
  };
  const watch = opening.use(await openStream(command, guarded(recorder, 'disk', hear)));
  await Promise.race([watching.promise, watch.closed]);
  // A node that boots has another first process, and with it other mounts.
  const lookAgain = async (container: string): Promise<void> => {
    if (!nodes.includes(container)) return;
    watch.write(JSON.stringify({ nodes: await processesOf(nodes) }));
  };
  const boots = opening.use(
    await openStream(endedByInput(starts()), guarded(recorder, 'disk', lookAgain)),
  );
  for (const { closed } of [watch, boots]) {
    closed.catch((error: unknown) => recorder.record(gap(String(error))));
  }
  return opening.move();
}

/**
 * Calls about no volume, such as kubelet's for capabilities, and its asking for usage once a minute
 * are in the driver's log only.
 */
const tells = ({ volume, call }: CallEntry): boolean =>
  volume !== undefined && call !== 'NodeGetVolumeStats';

function isOther(line: ToldLine, volume: string): boolean {
  const about = line.type === 'call' ? line.entry.volume : 'volume' in line && line.volume;
  return typeof about === 'string' && about !== volume;
}

const inspectedSchema = z.array(
  z.object({ Name: z.string(), State: z.object({ Pid: z.number() }) }),
);

/** The first process of each node that runs, as the host numbers it. */
async function processesOf(nodes: readonly string[]): Promise<Readonly<Record<string, number>>> {
  const found = inspectedSchema.parse(await inspect('container', nodes));
  return Object.fromEntries(
    found
      .filter(({ State }) => State.Pid > 0)
      .map(({ Name, State }) => [Name.replace(/^\//, ''), State.Pid]),
  );
}

const gap = (message: string): Unstamped => ({ type: 'error', where: 'observe-disk', message });

type ToldLine = Exclude<WatchLine, { readonly type: 'watching' | 'beat' }>;

export function recordOf(line: ToldLine, originMs: number): Unstamped {
  if (line.type === 'call') return callRecord(line.entry, originMs);
  if (line.type === 'failure') return { ...gap(line.message), t: line.monoMs - originMs };
  const { type, monoMs, node, ...data } = line;
  const mount = type === 'mounted' || type === 'unmounted';
  return {
    type: 'observation',
    t: monoMs - originMs,
    source: mount ? 'mounts' : 'devices',
    name: nameOf[type],
    node,
    data,
  };
}

const nameOf = {
  mounted: observed.mounted,
  unmounted: observed.unmounted,
  written: observed.deviceWritten,
  cut: observed.deviceCut,
  link: observed.linkChanged,
  held: observed.requestsHeld,
} as const;

/** Stamped when the call came in; `data.durationMs` says when it was answered. */
const callRecord = (
  { monoMs, wallMs, node, notes, ...entry }: CallEntry,
  originMs: number,
): Unstamped => ({
  type: 'observation',
  t: monoMs - originMs,
  wall: wallMs,
  source: 'csi',
  name: observed.csiCall,
  node,
  data: { ...entry, ...notes },
});

/** Forced detaches since the controller manager started, by reason. */
interface ForcedDetachCounts {
  readonly timeout: number;
  readonly 'out-of-service': number;
}

/** The subsystem's prefix is doubled in Kubernetes itself. */
const metric = 'attach_detach_controller_attachdetach_controller_forced_detaches';

/** The counters are lost whenever the controller manager restarts: read them before that. */
export async function readForcedDetachMetric(controlPlane: string): Promise<ForcedDetachCounts> {
  // The API server's client of kubelets may not read it any more (Kubernetes 1.36).
  const admin = '--kubeconfig=/etc/kubernetes/admin.conf';
  const server = ['--server=https://127.0.0.1:10257', '--insecure-skip-tls-verify'];
  const kubectl = ['kubectl', admin, ...server];
  const text = await run(engine.exec(controlPlane, ...kubectl, 'get', '--raw', '/metrics'));
  return parseForcedDetaches(text);
}

export function parseForcedDetaches(metrics: string): ForcedDetachCounts {
  const lines = metrics.split('\n');
  const count = (reason: string): number => {
    const line = lines.find((each) => each.startsWith(`${metric}{reason="${reason}"}`));
    return line === undefined ? 0 : Number(line.split(' ').at(-1));
  };
  return { timeout: count('timeout'), 'out-of-service': count('out-of-service') };
}

/** After these the counter may have moved, or have begun anew. */
const occasions: readonly string[] = [
  observed.forceDetachLog,
  observed.leaderAcquired,
  observed.attachmentDeleting,
  observed.mounted,
];

/** The counter moves right before the line is logged, and a reading is a process: one for many. */
const settleMs = 500;
/** One that is just being started again is waited for. */
const restartWithinMs = 60_000;

/**
 * Reads it now, after each occasion, and at the end: it is lost with the process that keeps it. A
 * reading that fails in between is left out, as a controller manager that is down has no counter.
 */
async function observeForcedDetaches(
  { controlPlane }: Pick<Cluster, 'controlPlane'>,
  recorder: Recorder,
): Promise<AsyncDisposable> {
  const read = async (): Promise<true> => {
    const data = { ...(await readForcedDetachMetric(controlPlane)) };
    const about = { source: 'controller-manager', name: observed.forceDetachMetric } as const;
    recorder.record({ type: 'observation', ...about, data });
    return true;
  };
  let due: NodeJS.Timeout | undefined;
  let reading: Promise<unknown> = Promise.resolve();
  const onRecord = (record: HistoryRecord): void => {
    if (record.type !== 'observation' || !occasions.includes(record.name)) return;
    due ??= setTimeout(() => {
      due = undefined;
      reading = reading.then(read).catch(() => undefined);
    }, settleMs);
  };
  await read();
  const unsubscribe = recorder.subscribe(onRecord);
  return {
    async [Symbol.asyncDispose](): Promise<void> {
      unsubscribe();
      clearTimeout(due);
      await reading;
      const what = 'the controller manager reports its counter';
      await waitFor({ what, timeoutMs: restartWithinMs, everyMs: 1000 }, read);
    },
  };
}

interface ObservedScope {
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
  for (const log of ['controller-manager', 'audit'] as const) {
    stack.use(observeLogs(log, cluster, recorder, clock, { namespace, volume: handle }));
  }
  stack.use(await makeRequests(cluster));
  const only = name === undefined ? {} : { volumeName: name };
  stack.use(await observeApi({ kubeConfig, namespace, podSelector, nodes, ...only }, recorder));
  // The counter is of the whole cluster: it says nothing of one volume beside others.
  if (!isShared) stack.use(await observeForcedDetaches(cluster, recorder));
  return stack.move();
}

const requestAnnotation = 'forcedetach.dev/request';

/**
 * Changes its own annotation of the control plane's Node at every beat. The audit log has each of these
 * requests, so that a log without any is blind, and one that has nothing else is quiet.
 */
async function makeRequests(cluster: Cluster): Promise<AsyncDisposable> {
  const { core } = await cluster.kube();
  const { controlPlane: name } = cluster;
  const path = `/metadata/annotations/${requestAnnotation.replace('/', '~1')}`;
  let made = 0;
  // A control plane that is stopped answers nobody, and nothing waits for it.
  const change = async (operation: object): Promise<unknown> =>
    Promise.race([
      core.patchNode({ name, body: [{ path, ...operation }] }).catch(() => undefined),
      sleep(2000, undefined, { ref: false }),
    ]);
  const request = async (): Promise<unknown> => change({ op: 'add', value: String((made += 1)) });
  await request();
  const timer = setInterval(() => void request(), beatEveryMs);
  return {
    async [Symbol.asyncDispose](): Promise<void> {
      clearInterval(timer);
      await change({ op: 'remove' });
    },
  };
}

const everyMs = 1000;

export function observeMachine(recorder: Recorder): Disposable {
  let dueMs = performance.now() + everyMs;
  const look = (): void => {
    const nowMs = performance.now();
    const timerLagMs = Math.max(0, Math.round(nowMs - dueMs));
    dueMs = nowMs + everyMs;
    const pressures = (['cpu', 'io', 'memory'] as const).flatMap((resource) => {
      const percent = pressure(resource);
      return percent === undefined ? [] : [[`${resource}Pressure`, percent] as const];
    });
    recorder.record({
      type: 'machine',
      timerLagMs,
      ...Object.fromEntries(pressures),
      load: loadavg()[0] ?? 0,
    });
  };
  const timer = setInterval(guarded(recorder, 'the machine', look), everyMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Percent of the last ten seconds in which some task waited; undefined where PSI is off. */
function pressure(resource: 'cpu' | 'io' | 'memory'): number | undefined {
  try {
    const text = readFileSync(`/proc/pressure/${resource}`, 'utf8');
    const avg10 = /some avg10=([\d.]+)/.exec(text)?.[1];
    return avg10 === undefined ? undefined : Number(avg10);
  } catch {
    return undefined;
  }
}

export async function versionsOf(
  cluster: Cluster,
  images: ImageSet,
): Promise<Readonly<Record<string, string>>> {
  const { name: app, server } = cluster.database;
  const lab = async (...argv: string[]): Promise<string> => (await cluster.lab.exec(argv)).trim();
  return {
    forcedetach: harnessVersion(),
    kubernetes: images.kubernetesVersion,
    'eviction limits': zoneLimitsText,
    images: images.source,
    [app]: await lab(server, '--version'),
    mkfs: (await lab('sh', '-c', 'mkfs.ext4 -V 2>&1')).split('\n')[0] ?? '',
    kernel: release(),
    node: process.version,
    ...Object.fromEntries(Object.entries(images.ids).map(([name, id]) => [`image ${name}`, id])),
  };
}
