/** Observer of the controller manager's counter of forced detaches. */
import type { HistoryRecord } from '../../../history/events.ts';
import { observed } from '../../../history/observations.ts';
import type { Recorder } from '../../port.ts';
import type { Cluster } from '../cluster.ts';
import { readForcedDetachMetric } from '../create/controller-manager.ts';
import { waitFor } from '../wait.ts';

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
  cluster: Pick<Cluster, 'controlPlane'>,
  recorder: Recorder,
): Promise<AsyncDisposable> {
  const read = async (): Promise<void> => {
    const counts = await readForcedDetachMetric(cluster.controlPlane);
    recorder.record({
      type: 'observation',
      source: 'controller-manager',
      name: observed.forceDetachMetric,
      data: { ...counts },
    });
  };
  let due: NodeJS.Timeout | undefined;
  let reading: Promise<void> = Promise.resolve();
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
      const what = 'the controller manager tells its counter';
      await waitFor({ what, timeoutMs: restartWithinMs, everyMs: 1000 }, async () => {
        await read();
        return true;
      });
    },
  };
}
