/** Runs procedures one after the other on one cluster, each with a history of its own. */
import { join } from 'node:path';
import { observeApi } from '../../cluster/kind/observe/api.ts';
import { observeDisk } from '../../cluster/kind/observe/disk.ts';
import { observeControllerManager } from '../../cluster/kind/observe/logs.ts';
import { observeMachine } from '../../cluster/kind/observe/machine.ts';
import { openCluster, type ClusterChoice } from '../../cluster/kind/create/open-cluster.ts';
import { realClock } from '../../cluster/kind/real-clock.ts';
import { versionsOf } from '../../cluster/kind/observe/versions.ts';
import { describeError } from '../../errors.ts';
import { openRecorder } from '../../history/recorder.ts';
import { Bench, namespace } from './bench.ts';
import { podLabel } from './pod.ts';
import { removeObjects } from './remove.ts';
import type { Procedure } from '../seed.ts';

export interface ProcedureRun {
  readonly seed: number;
  readonly procedure: Procedure;
}

export interface ProceduresOptions extends ClusterChoice {
  readonly runs: readonly ProcedureRun[];
  readonly kubernetes: string;
  readonly graceMs: number;
  readonly forceDetachAfterMs: number;
  readonly runId: string;
  /** Each procedure's history goes to `<folder>/seed-<number>`. */
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
  /** A procedure ended, well or not. */
  readonly onDone: (seed: number, folder: string) => void;
}

/** One that fails is told, and the others go on; Ctrl-C ends them all. The cluster is released. */
export async function runProcedures(options: ProceduresOptions): Promise<void> {
  const { kubernetes, graceMs, forceDetachAfterMs, runId, signal, say } = options;
  const { cluster, images } = await openCluster(options, {
    scenario: {
      ...{ kubernetes, featureGates: {}, graceMs, forceDetachAfterMs },
      ...{ forceDetach: 'on', provision: 'static' },
    },
    runId,
    onProgress: say,
    signal,
  });
  await using stack = new AsyncDisposableStack();
  stack.defer(() => cluster.release());
  const clients = await cluster.kube();
  const versions = await versionsOf(cluster, images);
  for (const { seed, procedure } of options.runs) {
    const folder = join(options.folder, `seed-${seed}`);
    const clock = realClock();
    const recorder = openRecorder(folder, clock);
    const done = { type: 'action', actor: 'runner', name: `seed ${seed}` } as const;
    try {
      recorder.record({ ...done, step: 'begin' });
      recorder.record({
        type: 'setup',
        timers: { ...cluster.timers, tolerationMs: 300_000, terminationGraceMs: 1_000 },
        versions,
        nodes: cluster.nodes,
      });
      await removeObjects(clients, cluster.lab, []);
      await using observers = new AsyncDisposableStack();
      observers.use(observeMachine(recorder));
      observers.use(await observeDisk(cluster, recorder, clock.originNs));
      observers.use(observeControllerManager(cluster, recorder, clock));
      const scope = { kubeConfig: clients.config, namespace, podSelector: podLabel };
      observers.use(await observeApi(scope, recorder));
      const common = { cluster, clients, image: images.database, recorder, signal };
      await using bench = new Bench({
        ...common,
        runId: `${runId}-${seed}`,
        say: (line) => say(`seed ${seed}: ${line}`),
      });
      await procedure.act(bench);
      recorder.record({ ...done, step: 'done' });
    } catch (error) {
      recorder.record({ type: 'error', where: `seed ${seed}`, message: describeError(error) });
      say(`seed ${seed} FAILED: ${describeError(error)}`);
      signal.throwIfAborted();
    } finally {
      recorder.close();
      options.onDone(seed, folder);
    }
  }
}
