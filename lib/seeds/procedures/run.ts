/** Runs procedures one after the other on one cluster, each with a history of its own. */
import { join } from 'node:path';
import {
  openCluster,
  type ClusterChoice,
  type OpenCluster,
} from '../../cluster/kind/create/open-cluster.ts';
import { openProcedureTestbed } from '../../cluster/kind/procedure/testbed.ts';
import { realClock } from '../../cluster/kind/real-clock.ts';
import { describeError } from '../../errors.ts';
import { recordProcedure, scenarioOf, type ProcedureSeed } from './record.ts';

export interface ProceduresOptions extends ClusterChoice {
  readonly wanted: readonly ProcedureSeed[];
  /** As the cluster is made. */
  readonly made: Parameters<typeof scenarioOf>[1];
  readonly runId: string;
  /** Each procedure's history goes to `<folder>/seed-<number>`. */
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
  /** A procedure ended, well or not. */
  readonly onDone: (folder: string) => void;
}

/** One that fails is told, and the others go on; Ctrl-C ends them all. The cluster is released. */
export async function runProcedures(options: ProceduresOptions): Promise<void> {
  const { wanted, made, runId, signal, say } = options;
  let opening: Promise<OpenCluster> | undefined;
  await using stack = new AsyncDisposableStack();
  stack.defer(async () => (await opening?.catch(() => undefined))?.cluster.release());
  for (const seed of wanted) {
    const { number } = seed;
    const scenario = scenarioOf(seed, made);
    const { tolerationMs } = scenario;
    const folder = join(options.folder, `seed-${number}`);
    const clock = realClock();
    const tell = (line: string): void => say(`seed ${number}: ${line}`);
    await recordProcedure({
      ...{ seed, scenario, runId: `${runId}-${number}`, folder, clock, signal, say: tell },
      async open({ signal }) {
        opening ??= openCluster(options, { scenario, runId, onProgress: say, signal });
        return openProcedureTestbed({ ...(await opening), clock, tolerationMs, signal });
      },
    }).catch((error: unknown) => tell(`FAILED: ${describeError(error)}`));
    options.onDone(folder);
    // Without a cluster no other one can do better.
    await opening;
    signal.throwIfAborted();
  }
}
