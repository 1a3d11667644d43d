/** Observers of the disk: CSI calls, mounts, bytes written and cuts, as the lab sees them. */
import { z } from 'zod';
import { inspect } from '../engine/run.ts';
import { starts } from '../engine/commands.ts';
import { type CallEntry, type WatchLine, watchLineSchema } from '../../storage/index.ts';
import {
  observed,
  declareObserver,
  guarded,
  type Recorder,
  type Unstamped,
} from '../../history/index.ts';
import { inLab } from '../disk/containers.ts';
import type { Cluster } from '../cluster.ts';

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
  const boots = opening.use(await openStream(starts(), guarded(recorder, 'disk', lookAgain)));
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
