/** Observers of logs that survive a partition: the controller manager's, the server's, the sidecar's. */
import { database } from '../../../database/chosen.ts';
import { observed, type ObservedName } from '../../../history/observations.ts';
import { declareObserver, guarded } from '../../../history/observers.ts';
import type { Clock } from '../../../clock.ts';
import type { Recorder } from '../../../history/port.ts';
import type { Cluster } from '../cluster.ts';
import { followControllerManager } from './controller-manager.ts';
import { followContainer } from '../database.ts';
import { soleScope, type RunScope } from '../run-scope.ts';
import type { Following, LogLine } from './pod-log.ts';

/** pkg/controller/volume/attachdetach/reconciler/reconciler.go: the line a force detach leaves. */
const forceDetachLine = /force detach/i;
const leaderLine = /successfully acquired lease|became leader/i;

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
  const source = 'controller-manager';
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
      source,
      name,
      data: { line: text },
    });
  };
  const declared = { observer: source, sees: [source], node: controlPlane };
  const beating = declareObserver(recorder, declared);
  const hear = guarded(recorder, source, see);
  return followControllerManager(controlPlane, hear, { openStream, beating });
}

export function observeServerLogs(
  cluster: Cluster,
  recorder: Recorder,
  clock: Clock,
  scope: RunScope = soleScope,
): AsyncDisposable {
  const { name, server, log } = database;
  const see = keeping({ recorder, clock }, server, observed.serverLog);
  const hear = (line: LogLine): unknown => log.kept.test(line.text) && see(line);
  return onEveryNode(cluster, server, recorder, (node, following) =>
    followContainer(name, node, hear, { scope, ...following }),
  );
}

export function observeSelfFences(
  cluster: Cluster,
  recorder: Recorder,
  clock: Clock,
  scope: RunScope = soleScope,
): AsyncDisposable {
  const hear = keeping({ recorder, clock }, 'self-fence', observed.selfFence);
  return onEveryNode(cluster, 'self-fence', recorder, (node, following) =>
    followContainer('self-fence', node, hear, { scope, ...following }),
  );
}

/** Records each line that it is given. */
const keeping = (
  { recorder, clock }: { readonly recorder: Recorder; readonly clock: Clock },
  source: string,
  name: ObservedName,
): ((line: LogLine) => Promise<void>) =>
  guarded(recorder, source, ({ node, text, wallMs }: LogLine) => {
    const data = { line: text };
    recorder.record({ ...written(clock, wallMs), type: 'observation', source, name, node, data });
  });

/** An observer for each node: it ends with the node. */
function onEveryNode(
  { nodes, openStream }: Cluster,
  source: string,
  recorder: Recorder,
  follow: (node: string, following: Following) => AsyncDisposable,
): AsyncDisposable {
  const followers = nodes.map((node) => {
    const beating = declareObserver(recorder, { observer: source, sees: [source], node });
    return follow(node, { openStream, beating });
  });
  return {
    async [Symbol.asyncDispose](): Promise<void> {
      await Promise.all(followers.map((follower) => follower[Symbol.asyncDispose]()));
    },
  };
}
