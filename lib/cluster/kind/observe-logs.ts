/** Observers of logs that survive a partition: the controller manager's, mysqld's, the sidecar's. */
import { observed, type ObservedName } from '../../history/observations.ts';
import type { Clock } from '../clock.ts';
import type { Recorder } from '../port.ts';
import type { Cluster } from './cluster.ts';
import { followControllerManager } from './controller-manager.ts';
import { followDatabaseLog, followSelfFenceLog } from './database.ts';
import { solePlace, type Place } from './place.ts';
import type { LogLine } from './pod-log.ts';

/** pkg/controller/volume/attachdetach/reconciler/reconciler.go: the line a force detach leaves. */
const forceDetachLine = /force detach/i;
const leaderLine = /successfully acquired lease|became leader/i;

/** Error log lines of mysqld that are kept: ends and beginnings, and all that is worse than a note. */
const serverLine = /\[(ERROR|Warning)\]|ready for connections|Shutdown complete|corrupt/i;

/** When a line was written, by its own stamp, on both clocks: it may be read seconds later. */
const written = (clock: Clock, wallMs: number): { readonly t: number; readonly wall: number } => ({
  t: clock.nowMs() - (clock.wallMs() - wallMs),
  wall: wallMs,
});

/** `volume`: handle of the only volume whose forced detaches are meant. Default: all. */
export function observeControllerManager(
  cluster: Cluster,
  recorder: Recorder,
  clock: Clock,
  volume = '',
): AsyncDisposable {
  const { controlPlane, openStream } = cluster;
  const see = ({ text, wallMs }: LogLine): void => {
    const name =
      forceDetachLine.test(text) && text.includes(volume)
        ? observed.forceDetachLog
        : leaderLine.test(text)
          ? observed.leaderAcquired
          : undefined;
    if (name === undefined) return;
    recorder.record({
      ...written(clock, wallMs),
      type: 'observation',
      source: 'controller-manager',
      name,
      data: { line: text },
    });
  };
  return followControllerManager(controlPlane, see, { openStream });
}

export const observeServerLogs = (
  cluster: Cluster,
  recorder: Recorder,
  clock: Clock,
  place: Place = solePlace,
): AsyncDisposable =>
  onEveryNode(cluster, (node) =>
    followDatabaseLog(
      node,
      (line) => {
        if (!serverLine.test(line.text)) return;
        see({ recorder, clock }, 'mysqld', observed.serverLog, line);
      },
      { place, openStream: cluster.openStream },
    ),
  );

export const observeSelfFences = (
  cluster: Cluster,
  recorder: Recorder,
  clock: Clock,
  place: Place = solePlace,
): AsyncDisposable =>
  onEveryNode(cluster, (node) =>
    followSelfFenceLog(
      node,
      (line) => see({ recorder, clock }, 'self-fence', observed.selfFence, line),
      { place, openStream: cluster.openStream },
    ),
  );

function see(
  { recorder, clock }: { readonly recorder: Recorder; readonly clock: Clock },
  source: string,
  name: ObservedName,
  { node, text, wallMs }: LogLine,
): void {
  const data = { line: text };
  recorder.record({ ...written(clock, wallMs), type: 'observation', source, name, node, data });
}

function onEveryNode(
  { nodes }: Cluster,
  follow: (node: string) => AsyncDisposable,
): AsyncDisposable {
  const followers = nodes.map(follow);
  return {
    async [Symbol.asyncDispose](): Promise<void> {
      await Promise.all(followers.map((follower) => follower[Symbol.asyncDispose]()));
    },
  };
}
