/** The watch: apply the remedy at its time, then look on until the successor serves or the horizon ends. */
import type { PodRef } from '../../cluster/port.ts';
import type { Writers } from '../../workload/port.ts';
import type { RemedyRun } from './remedy-run.ts';
import type { Run } from './run-context.ts';
import { waitUntil } from './wait.ts';

/** So many commits by the successor count as serving; an open port does not. */
const servingCommits = 5;

export interface WatchContext extends Run {
  readonly writers: Writers;
  readonly victim: PodRef;
  readonly remedy: RemedyRun;
  readonly faultAtMs: number;
}

export async function watch(context: WatchContext): Promise<void> {
  const { scenario, testbed, faultAtMs, signal, steps, writers, victim, onProgress } = context;
  const { clock } = testbed;
  const { handOver } = steps;
  const deadlineMs = faultAtMs + scenario.horizonMs;
  await context.remedy.apply(faultAtMs, deadlineMs);

  const successorCommits = (): number =>
    writers.acked().reduce((sum, each) => (each.node === victim.node ? sum : sum + each.count), 0);
  const isSeen = (): boolean => handOver.isSeen(victim);
  const handedOver = await waitUntil(clock, isSeen, { deadlineMs, signal });
  onProgress(handedOver ? handOver.seen : handOver.none);
  if (!handedOver) return;
  const serving = await waitUntil(clock, () => successorCommits() >= servingCommits, {
    deadlineMs: Math.min(deadlineMs, clock.nowMs() + scenario.patienceMs),
    signal,
  });
  onProgress(serving ? 'the successor commits' : 'the successor does not commit');
  if (serving) await clock.sleep(scenario.overlapMs, signal);
}
