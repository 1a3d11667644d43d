/** The watch: apply the remedy at its time, then look on until the successor serves or the horizon ends. */
import type { PodRef, Testbed } from '../../cluster/port.ts';
import type { Writers } from '../../workload/port.ts';
import type { RemedyRun } from './remedy-run.ts';
import type { Scenario } from '../scenario.ts';
import type { Sightings } from './sightings.ts';
import { waitUntil } from './wait.ts';

/** So many commits by the successor count as serving; an open port does not. */
const servingCommits = 5;

export interface WatchContext {
  readonly scenario: Scenario;
  readonly testbed: Testbed;
  readonly writers: Writers;
  readonly sightings: Sightings;
  readonly victim: PodRef;
  readonly remedy: RemedyRun;
  readonly faultAtMs: number;
  readonly signal: AbortSignal;
  readonly onProgress: (line: string) => void;
}

export async function watch(context: WatchContext): Promise<void> {
  const { scenario, testbed, faultAtMs, signal, sightings, writers, victim } = context;
  const deadlineMs = faultAtMs + scenario.horizonMs;
  await context.remedy.apply(faultAtMs, deadlineMs);

  const successorCommits = (): number =>
    writers.acked().reduce((sum, each) => (each.node === victim.node ? sum : sum + each.count), 0);
  const mounted = await waitUntil(testbed.clock, () => sightings.secondMountAtMs !== undefined, {
    deadlineMs,
    signal,
  });
  if (!mounted) {
    context.onProgress(`no second mount within ${scenario.horizonMs / 1000} s`);
    return;
  }
  context.onProgress('another node mounted the volume');
  const serving = await waitUntil(testbed.clock, () => successorCommits() >= servingCommits, {
    deadlineMs: Math.min(deadlineMs, testbed.clock.nowMs() + scenario.patienceMs),
    signal,
  });
  context.onProgress(serving ? 'the successor commits' : 'the successor does not commit');
  if (serving) await testbed.clock.sleep(scenario.overlapMs, signal);
}
