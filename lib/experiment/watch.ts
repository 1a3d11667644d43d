/** The watch: apply the remedy at its time, then look on until the successor serves or the horizon ends. */
import type { PodRef, Recorder, Testbed, Writers } from '../cluster/port.ts';
import type { RemedyEvent } from '../remedy-kinds.ts';
import type { Remedy } from '../remedies/remedy.ts';
import type { Scenario } from './scenario.ts';
import type { Sightings } from './sightings.ts';
import { waitUntil } from './wait.ts';

/** So many commits by the successor count as serving; an open port does not. */
const servingCommits = 5;

export interface WatchContext {
  readonly scenario: Scenario;
  readonly testbed: Testbed;
  readonly recorder: Recorder;
  readonly writers: Writers;
  readonly sightings: Sightings;
  readonly victim: PodRef;
  readonly remedy: Remedy;
  readonly faultAtMs: number;
  readonly signal: AbortSignal;
  readonly onProgress: (line: string) => void;
}

export async function watch(context: WatchContext): Promise<void> {
  const { scenario, testbed, faultAtMs, signal, sightings, writers, victim } = context;
  const deadlineMs = faultAtMs + scenario.horizonMs;
  await applyRemedy(context, deadlineMs);

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

const hasCome: Readonly<Record<RemedyEvent, (seen: Sightings) => boolean>> = {
  terminating: (seen) => seen.victimTerminating,
  'not-ready': (seen) => seen.victimNotReady,
  'pod-gone': (seen) => seen.victimGoneAtMs !== undefined,
  'successor-pending': (seen) => seen.successorPending,
};

async function applyRemedy(context: WatchContext, deadlineMs: number): Promise<void> {
  const { scenario, testbed, recorder, remedy, victim, sightings, faultAtMs, signal } = context;
  if (remedy.name === 'none') return;
  const { remedyAt } = scenario;
  if (typeof remedyAt === 'string') {
    const due = await waitUntil(testbed.clock, () => hasCome[remedyAt](sightings), {
      deadlineMs,
      signal,
    });
    if (!due) {
      const detail = `${remedyAt} did not come within the horizon`;
      recorder.record({
        type: 'action',
        actor: 'remedy',
        name: remedy.name,
        step: 'failed',
        detail,
      });
      return;
    }
  } else {
    await testbed.clock.sleep(Math.max(0, faultAtMs + remedyAt - testbed.clock.nowMs()), signal);
  }
  const about = { type: 'action', actor: 'remedy', name: remedy.name, node: victim.node } as const;
  recorder.record({ ...about, step: 'begin' });
  await remedy.apply(testbed, victim);
  recorder.record({ ...about, step: 'done' });
  context.onProgress(`remedy ${remedy.name} applied`);
}
