/** What is seen of a cluster in every run on it, whatever runs there. */
import { readFileSync } from 'node:fs';
import { loadavg, release } from 'node:os';
import { guarded, type Recorder } from '../../history/index.ts';
import { harnessVersion } from '../images/harness-version.ts';
import type { ImageSet } from '../images/image-set.ts';
import { type RealClock, zoneLimitsText } from '../../core/index.ts';
import type { Cluster } from '../cluster.ts';
import { observeApi } from './api.ts';
import { observeForcedDetaches } from './controller-manager.ts';
import { observeDisk } from './disk.ts';
import { observeLogs } from './logs.ts';

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
  for (const log of ['controller-manager', 'audit'] as const) {
    stack.use(observeLogs(log, cluster, recorder, clock, { namespace, volume: handle }));
  }
  const only = name === undefined ? {} : { volumeName: name };
  stack.use(await observeApi({ kubeConfig, namespace, podSelector, nodes, ...only }, recorder));
  // The counter is of the whole cluster: it says nothing of one volume beside others.
  if (!isShared) stack.use(await observeForcedDetaches(cluster, recorder));
  return stack.move();
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
