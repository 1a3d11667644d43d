/**
 * What a run waits for, since when and until when, from its records so far: the phases that the
 * report shows, and the timers in force.
 */
import { refusedMountsOf } from '../experiment/refused-mounts.ts';
import { silencesKubelet } from '../fault-kinds.ts';
import type { Phases } from '../experiment/verdict.ts';
import { observed } from '../history/observations.ts';
import { phasesOf } from './phases.ts';
import type { Story } from './story.ts';

export interface Outlook {
  /** Seconds after the fault. */
  readonly phases: Phases;
  /** How often nodes were refused the mount, as told in words. */
  readonly refused: readonly string[];
  /** One clause; undefined where nothing of Kubernetes is waited for. */
  readonly waiting: string | undefined;
}

/** `story`: of the records so far. */
export function outlookOf(story: Story): Outlook {
  const sofar = story.records.some((record) => record.type === 'phase' && record.phase === 'heal')
    ? story
    : { ...story, healAtMs: Number.POSITIVE_INFINITY };
  const phases = phasesOf(sofar, undefined);
  const refusals = refusedMountsOf(story, []);
  return {
    phases,
    refused: refusals.map(
      ({ node, times, lastS, errors }) =>
        `${/fsck/i.test(errors.join()) ? 'fsck' : 'the driver'} refused the mount on ${node}: ` +
        `${times === 1 ? 'once' : `${times} times`}, last at ${at(lastS)}`,
    ),
    waiting: waitingIn(sofar, phases, refusals.at(-1)?.lastS),
  };
}

const at = (s: number): string => `+${s.toFixed(0)} s`;
const expected = (s: number): string => `expected at ${at(s)}`;

/** In the order in which Kubernetes takes these decisions: the first that is not there yet. */
function waitingIn(story: Story, phases: Phases, refusedS?: number): string | undefined {
  const { scenario, setup, faultAtMs } = story;
  const phase = story.records.findLast((record) => record.type === 'phase')?.phase;
  if (faultAtMs === undefined || setup === undefined || phase !== 'watch') return undefined;
  if (scenario.recreations > 0) return `the pod to be Ready again, ${scenario.recreations} times`;
  const { timers } = setup;
  const endS = scenario.horizonMs / 1000;
  const atLatest = `the watch ends at ${at(endS)}`;
  const { notReady, evicted, podRemoved, attached, secondMount } = phases;
  if (secondMount !== null) {
    const untilS = Math.min(endS, secondMount + scenario.patienceMs / 1000);
    return `the successor’s first commits: mounted at ${at(secondMount)}, at most until ${at(untilS)}`;
  }
  if (refusedS !== undefined) return `a mount that is not refused; ${atLatest}`;
  if (attached !== null) return `the mount: attached elsewhere at ${at(attached)}`;
  if (podRemoved !== null) return detachIn(story, phases, atLatest);
  if (evicted !== null) return removalIn(story, `evicted at ${at(evicted)}`, atLatest);
  if (notReady !== null) {
    const dueS = notReady + timers.tolerationMs / 1000;
    return `the eviction: NotReady at ${at(notReady)}, ${expected(dueS)}`;
  }
  if (!silencesKubelet(scenario.fault)) return `what Kubernetes does; ${atLatest}`;
  // The last heartbeat was before the fault, and the monitor looks every few seconds.
  return `the node to be NotReady: ${expected(timers.nodeMonitorGraceMs / 1000)}`;
}

/** The old pod stays until its kubelet or somebody else removes it. */
function removalIn({ scenario, remedy }: Story, since: string, atLatest: string): string {
  const { remedyAt } = scenario;
  if (scenario.remedy === 'none') {
    return `the old pod to go: ${since}, nobody removes it; ${atLatest}`;
  }
  // One that acts at the eviction, or at what comes before it, acts now.
  const isDue = remedyAt === 'terminating' || remedyAt === 'not-ready' || remedy !== undefined;
  if (isDue) return `the old pod to go: ${since}, remedy ${scenario.remedy}`;
  const when = typeof remedyAt === 'number' ? expected(remedyAt / 1000) : `comes at ${remedyAt}`;
  return `the remedy ${scenario.remedy}: ${since}, ${when}; ${atLatest}`;
}

function detachIn(story: Story, { podRemoved, detached }: Phases, atLatest: string): string {
  const { scenario, observations, faultAtMs = 0, victimNode, setup } = story;
  const gone = podRemoved ?? 0;
  const since = `pod gone at ${at(gone)}`;
  if (scenario.disk === 'shared-file') return `the mount: ${since}, nothing is attached`;
  if (detached !== null) return `the attach elsewhere: detached at ${at(detached)}`;
  // A kubelet that nobody hears can't report an unmount.
  const isReported =
    !silencesKubelet(scenario.fault) &&
    observations.some(
      ({ name, node, t }) => name === observed.unmounted && node === victimNode && t >= faultAtMs,
    );
  const waits = scenario.forceDetach === 'on' && scenario.remedy !== 'out-of-service';
  if (isReported || !waits) return `the detach: ${since}; ${atLatest}`;
  // Another controller manager waits anew.
  const anew = observations.findLast(
    ({ name, t }) => name === observed.leaderAcquired && t > faultAtMs + gone * 1000,
  );
  const fromS = anew === undefined ? gone : (anew.t - faultAtMs) / 1000;
  const again = anew === undefined ? '' : `, a new controller manager at ${at(fromS)}`;
  const dueS = fromS + (setup?.timers.forceDetachAfterMs ?? 0) / 1000;
  return `the force-detach: ${since}${again}, ${expected(dueS)}`;
}
