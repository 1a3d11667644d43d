/**
 * What is waited for between the fault and the second mount, as one clause: what for, since when, and
 * until when by the timers in force, or why no end can be foreseen.
 */
import { isDirectory } from '../disk-modes/index.ts';
import { silencesKubelet } from '../faults/kinds/index.ts';
import type { Phases } from '../experiment/verdict/verdict.ts';
import type { Timers } from '../history/events.ts';
import { observed } from '../history/observations.ts';
import { taints } from '../remedies/kinds/index.ts';
import { milestones } from './milestones.ts';
import { rolesIn } from './roles.ts';
import type { Story } from './story.ts';
import { refusedMountsOf } from './refused-mounts.ts';
import { phasesOf } from './phases.ts';

/** What is known when a clause is made. */
interface AwaitedStory {
  readonly story: Story;
  readonly phases: Phases;
  readonly timers: Timers;
}

/** pkg/controller/podgc: it looks every 20 s, and a node that is gone has 40 s to come back. */
const podGcS = { look: 20, quarantine: 40 };
/** pkg/util/goroutinemap/exponentialbackoff: between two tries of one volume's operation. */
const longestBackOffS = 122;

const at = (s: number): string => `+${s.toFixed(0)} s`;
const expected = (s: number): string => `expected at ${at(s)}`;
const by = (s: number): string => `expected by ${at(s)}`;
const soon = 'expected within seconds';

/** In the order in which Kubernetes takes these decisions: the first that is not there yet. */
function awaitedIn(story: Story, phases: Phases, refusedS?: number): string | undefined {
  const { scenario, setup, faultAtMs } = story;
  const phase = story.records.findLast((record) => record.type === 'phase')?.phase;
  if (faultAtMs === undefined || setup?.timers === undefined || phase !== 'watch') return undefined;
  const seen: AwaitedStory = { story, phases, timers: setup.timers };
  const { notReady, evicted, podRemoved, attached, secondMount } = phases;
  if (scenario.recreations > 0) {
    const what = `the pod to be Ready again, ${scenario.recreations} times: since the fault`;
    return `${what}, ${noEnd(seen, 'each start takes its time')}`;
  }
  if (secondMount !== null) {
    const untilS = Math.min(endS(seen), secondMount + scenario.patienceMs / 1000);
    return `the successor’s first commits: mounted at ${at(secondMount)}, at most until ${at(untilS)}`;
  }
  if (refusedS !== undefined) {
    const why = `kubelet tries again, at least every ${longestBackOffS} s`;
    return `a mount that is not refused: refused first at ${at(refusedS)}, ${noEnd(seen, why)}`;
  }
  if (attached !== null) return mountIn(seen, `attached elsewhere at ${at(attached)}`);
  if (podRemoved !== null) return detachIn(seen, podRemoved);
  if (evicted !== null) return removalIn(seen, evicted);
  if (notReady !== null) {
    const dueS = notReady + seen.timers.tolerationMs / 1000;
    return `the eviction: NotReady at ${at(notReady)}, ${expected(dueS)}`;
  }
  if (!silencesKubelet(scenario.fault)) return nothingTimed(seen);
  // The last heartbeat was before the fault, and the monitor looks every few seconds.
  const dueS = seen.timers.nodeMonitorGraceMs / 1000;
  const bootsS = bootsAtS(seen);
  const bootedS = bootedAtS(seen);
  if (bootedS !== undefined) {
    const why = 'a node that is back in time is not given up';
    return `a second mount: the node booted at ${at(bootedS)}, ${noEnd(seen, why)}`;
  }
  if (bootsS !== undefined && bootsS < dueS) {
    return `the node to boot: down since the fault, ${expected(bootsS)}`;
  }
  return `the node to be NotReady: silent since the fault, ${expected(dueS)}`;
}

const endS = ({ story }: AwaitedStory): number => story.scenario.horizonMs / 1000;

const noEnd = (seen: AwaitedStory, why: string): string =>
  `no end foreseen: ${why}; the watch ends at ${at(endS(seen))}`;

/** By itself, as far as the scenario says when. */
function bootsAtS({ story }: AwaitedStory): number | undefined {
  const { fault, rebootAt } = story.scenario;
  return fault === 'node-reboot' && typeof rebootAt === 'number' ? rebootAt / 1000 : undefined;
}

/** Its fault has an end of its own. */
function bootedAtS({ story }: AwaitedStory): number | undefined {
  const { records, faultAtMs = 0, scenario } = story;
  const booted = records.find(
    (record) =>
      record.type === 'action' && record.name === scenario.fault && record.step === 'healed',
  );
  return scenario.fault === 'node-reboot' && booted !== undefined
    ? (booted.t - faultAtMs) / 1000
    : undefined;
}

/** Where the node is heard, only the remedy sets a timer off. */
function nothingTimed(seen: AwaitedStory): string {
  const { scenario, remedy, remedyName, faultAtMs = 0 } = seen.story;
  const why = scenario.fault === 'none' ? 'nothing is broken' : 'its kubelet may still be heard';
  if (remedy !== undefined) {
    const begunS = (remedy.t - faultAtMs) / 1000;
    return `what the remedy ${remedyName} sets off: begun at ${at(begunS)}, ${noEnd(seen, why)}`;
  }
  if (scenario.remedy !== 'none' && typeof scenario.remedyAt === 'number') {
    const dueS = scenario.remedyAt / 1000;
    return `the remedy ${remedyName}: since the fault, ${expected(dueS)}`;
  }
  return `what Kubernetes does: since the fault, ${noEnd(seen, why)}`;
}

/** The old pod stays until its kubelet or somebody else removes it. */
function removalIn(seen: AwaitedStory, evictedS: number): string {
  const { scenario, remedy, remedyName } = seen.story;
  const since = `evicted at ${at(evictedS)}`;
  const { remedyAt } = scenario;
  // One that acts at the eviction, or at what comes before it, acts now.
  const isDue = remedyAt === 'terminating' || remedyAt === 'not-ready' || remedy !== undefined;
  if (scenario.remedy === 'none' || isDue) {
    const named = scenario.remedy === 'none' ? '' : `, remedy ${remedyName}`;
    return `the old pod to go: ${since}${named}, ${removedWhen(seen, evictedS)}`;
  }
  const when =
    typeof remedyAt === 'number'
      ? expected(remedyAt / 1000)
      : noEnd(seen, `it comes at ${remedyAt}`);
  return `the remedy ${remedyName}: ${since}, ${when}`;
}

function removedWhen(seen: AwaitedStory, evictedS: number): string {
  const { scenario, remedy, faultAtMs = 0 } = seen.story;
  const begunS = remedy === undefined ? evictedS : (remedy.t - faultAtMs) / 1000;
  if (scenario.remedy === 'strip-pod-finalizer') return soon;
  if (scenario.podFinalizer) return noEnd(seen, 'its finalizer holds it');
  if (scenario.remedy === 'force-delete') return soon;
  if (taints(scenario.remedy)) return `${by(begunS + podGcS.look)}, when the pod GC looks`;
  if (scenario.remedy === 'delete-node') {
    const mostS = begunS + 2 * podGcS.look + podGcS.quarantine;
    return `${by(mostS)}, when the pod GC has missed its node`;
  }
  if (!silencesKubelet(scenario.fault)) {
    const graceS = seen.timers.terminationGraceMs / 1000;
    return `${by(evictedS + graceS)}, its grace period of ${graceS} s`;
  }
  const bootsS = bootsAtS(seen);
  if (bootsS !== undefined) return `expected once its node boots, at ${at(bootsS)}`;
  if (scenario.fault === 'flapping-partition')
    return noEnd(seen, 'its kubelet is heard now and then');
  return noEnd(seen, 'its kubelet is silent, and nobody else removes it');
}

function detachIn(seen: AwaitedStory, goneS: number): string {
  const { story, phases, timers } = seen;
  const { scenario, observations, faultAtMs = 0 } = story;
  const since = `pod gone at ${at(goneS)}`;
  if (isDirectory(scenario.disk)) return `the mount: ${since}, nothing is attached, ${soon}`;
  if (phases.detached !== null) {
    return `the attach elsewhere: detached at ${at(phases.detached)}, ${soon}`;
  }
  // A kubelet that nobody hears can't report an unmount.
  const isHeard = !silencesKubelet(scenario.fault);
  const roles = rolesIn(story);
  const unmounted = observations.find(
    (each) => each.t >= faultAtMs && milestones.unmounted.is(each, roles),
  );
  if (isHeard && unmounted !== undefined) {
    const reportedS = (unmounted.t - faultAtMs + timers.kubeletStatusMs) / 1000;
    return `the detach: ${since}, ${by(Math.max(goneS, reportedS))}, when its kubelet reports`;
  }
  if (taints(scenario.remedy)) {
    const isRefused = scenario.disk === 'pending-while-busy';
    const why = 'the disk refuses while the old node has it mounted';
    return `the detach: ${since}, out-of-service, ${isRefused ? noEnd(seen, why) : soon}`;
  }
  if (scenario.forceDetach === 'off') {
    const why = 'force-detach is off, and no kubelet reports an unmount';
    return `the detach: ${since}, ${noEnd(seen, why)}`;
  }
  // Another controller manager waits anew.
  const anew = observations.findLast(
    ({ name, t }) => name === observed.leaderAcquired && t > faultAtMs + goneS * 1000,
  );
  const fromS = anew === undefined ? goneS : (anew.t - faultAtMs) / 1000;
  const again = anew === undefined ? '' : `, a new controller manager at ${at(fromS)}`;
  const dueS = fromS + timers.forceDetachAfterMs / 1000;
  return isHeard
    ? `the detach: ${since}${again}, expected once its kubelet reports, else forced at ${at(dueS)}`
    : `the force-detach: ${since}${again}, ${expected(dueS)}`;
}

function mountIn(seen: AwaitedStory, since: string): string {
  const { disk, watcherCheck, fault } = seen.story.scenario;
  const waits = disk === 'exclusive' && watcherCheck === 'works' && silencesKubelet(fault);
  const why = 'the disk waits until the old node watches it no more';
  return `the mount: ${since}, ${waits ? noEnd(seen, why) : soon}`;
}

/**
 * What a run waits for, since when and until when, from its records so far: the phases that the
 * report shows, and the timers in force.
 */
interface Outlook {
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
    waiting: awaitedIn(sofar, phases, refusals.at(-1)?.firstS),
  };
}
