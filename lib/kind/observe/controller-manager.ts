/** The controller manager's counter of forced detaches, read while it is there. */
import * as engine from '../engine/commands.ts';
import { run } from '../engine/run.ts';
import { type HistoryRecord, observed, type Recorder } from '../../history/index.ts';
import { waitFor } from '../../core/index.ts';
import type { Cluster } from '../cluster.ts';

/** Forced detaches since the controller manager started, by reason. */
export interface ForcedDetachCounts {
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
export async function observeForcedDetaches(
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
