/**
 * What a run waits for between the fault and the second mount: what, since when, and until when by
 * the timers in force, or why there is no deadline.
 */
import { kubernetesTimes, secondUs } from '../../core/index.ts';
import { isDirectory, silencesKubelet, taints } from '../../scenario/index.ts';
import type { Phases } from '../verdict/verdict.ts';
import { type Timers, observed } from '../../history/index.ts';
import { milestones, rolesIn, type Story, phasesOf } from './story.ts';
import { refusedMountsOf } from './access.ts';

/** What is known when a clause is made. */
interface AwaitedStory {
  readonly story: Story;
  readonly phases: Phases;
  readonly timers: Timers;
}

const { podGcUs, quarantineUs, volumeBackOff } = kubernetesTimes;
const podGcS = { look: podGcUs / secondUs, quarantine: quarantineUs / secondUs };
/** Between two tries of one volume's operation. */
const longestBackOffS = volumeBackOff.maxUs / secondUs;

/** What a run waits for, as one clause: what, since when, and until when. */
interface Awaited {
  readonly clause: string;
  /** Seconds after the fault; absent where the timers name no end. */
  readonly dueS?: number;
}

/** The end of a clause. */
interface Due {
  readonly words: string;
  readonly dueS?: number;
}

const at = (s: number): string => `+${s.toFixed(0)} s`;
const expected = (s: number): Due => ({ words: `expected at ${at(s)}`, dueS: s });
const by = (s: number): Due => ({ words: `expected by ${at(s)}`, dueS: s });
const soonAfter = (s: number): Due => ({ words: 'expected within seconds', dueS: s });
const clauseOf = (what: string, { words, ...due }: Due): Awaited => ({
  clause: `${what}, ${words}`,
  ...due,
});
/** `, ${what}` before the end's own words. */
const because = ({ words, ...due }: Due, why: string): Due => ({
  words: `${words}, ${why}`,
  ...due,
});

/** In the order in which Kubernetes takes these decisions: the first that is not there yet. */
function awaitedIn(story: Story, phases: Phases, refusedS?: number): Awaited | undefined {
  const { scenario, setup, faultAtMs } = story;
  const phase = story.records.findLast((record) => record.type === 'phase')?.phase;
  if (faultAtMs === undefined || setup?.timers === undefined || phase !== 'watch') return undefined;
  const seen: AwaitedStory = { story, phases, timers: setup.timers };
  const { evicted, podRemoved, attached, secondMount } = phases;
  if (scenario.fault.recreations > 0) {
    const what = `the pod to be Ready again, ${scenario.fault.recreations} times`;
    return clauseOf(what, noEnd(seen, 'each start takes its time'));
  }
  if (secondMount !== null) {
    const untilS = Math.min(endS(seen), secondMount + scenario.watch.patience / 1000);
    return {
      clause: `the successor’s first commits: mounted at ${at(secondMount)}, at most until ${at(untilS)}`,
    };
  }
  if (refusedS !== undefined) {
    const why = `kubelet tries again, at least every ${longestBackOffS} s`;
    return clauseOf(
      `a mount that is not refused: refused first at ${at(refusedS)}`,
      noEnd(seen, why),
    );
  }
  if (attached !== null) return mountIn(seen, attached);
  if (podRemoved !== null) return detachIn(seen, podRemoved);
  if (evicted !== null) return removalIn(seen, evicted);
  return evictionIn(seen);
}

/** The node is given up first, and then its pods. */
function evictionIn(seen: AwaitedStory): Awaited {
  const { story, timers } = seen;
  const readiness = story.observations.findLast(
    (each) =>
      each.name === observed.nodeReady &&
      each.node === story.victimNode &&
      each.t >= (story.faultAtMs ?? 0),
  );
  if (readiness !== undefined && readiness.data.status !== 'True') {
    const sinceS = notReadySinceS(seen);
    const dueS = sinceS + timers.tolerationMs / 1000;
    return clauseOf(`the eviction: NotReady at ${at(sinceS)}`, expected(dueS));
  }
  if (readiness !== undefined || !silencesKubelet(story.scenario.fault.kind))
    return nothingTimed(seen);
  return missingIn(seen);
}

/** When it was last Ready no more: the toleration counts from there. */
function notReadySinceS({ story, phases }: AwaitedStory): number {
  const { observations, victimNode, faultAtMs = 0 } = story;
  const own = observations.filter(
    ({ name, node, t }) => name === observed.nodeReady && node === victimNode && t >= faultAtMs,
  );
  const lastReady = own.findLastIndex(({ data }) => data.status === 'True');
  const since = own[lastReady + 1];
  return since === undefined ? (phases.notReady ?? 0) : (since.t - faultAtMs) / 1000;
}

/** The last heartbeat was before the fault, and the monitor looks every few seconds. */
function missingIn(seen: AwaitedStory): Awaited {
  const dueS = seen.timers.nodeMonitorGraceMs / 1000;
  const bootsS = bootsAtS(seen);
  const bootedS = bootedAtS(seen);
  if (bootedS !== undefined) {
    const why = 'a node that is back in time keeps its pods';
    return clauseOf(`a second mount: the node booted at ${at(bootedS)}`, noEnd(seen, why));
  }
  if (bootsS !== undefined && bootsS < dueS) {
    return clauseOf('the node to boot: down since the fault', expected(bootsS));
  }
  return clauseOf('the node to be NotReady: no heartbeat since the fault', expected(dueS));
}

const endS = ({ story }: AwaitedStory): number => story.scenario.watch.horizon / 1000;
const noEnd = (seen: AwaitedStory, why: string): Due => ({
  words: `no deadline: ${why}; the watch ends at ${at(endS(seen))}`,
});

/** By itself, as far as the scenario says when. */
function bootsAtS({ story }: AwaitedStory): number | undefined {
  const { fault } = story.scenario;
  return fault.kind === 'node-reboot' && typeof fault.rebootAt === 'number'
    ? fault.rebootAt / 1000
    : undefined;
}

/** Its fault has an end of its own. */
function bootedAtS({ story }: AwaitedStory): number | undefined {
  const { records, faultAtMs = 0, scenario } = story;
  const booted = records.find(
    (record) =>
      record.type === 'action' && record.name === scenario.fault.kind && record.step === 'healed',
  );
  return scenario.fault.kind === 'node-reboot' && booted !== undefined
    ? (booted.t - faultAtMs) / 1000
    : undefined;
}

/** While the node's kubelet reports, only the remedy starts a timer. */
function nothingTimed(seen: AwaitedStory): Awaited {
  const { scenario, remedy, remedyName, faultAtMs = 0 } = seen.story;
  const why = scenario.fault.kind === 'none' ? 'there is no fault' : 'its kubelet may still report';
  if (remedy !== undefined) {
    const begunS = (remedy.t - faultAtMs) / 1000;
    return clauseOf(
      `the effect of the remedy ${remedyName}: begun at ${at(begunS)}`,
      noEnd(seen, why),
    );
  }
  if (scenario.remedy.kind !== 'none' && typeof scenario.remedy.at === 'number') {
    return clauseOf(`the remedy ${remedyName}`, expected(scenario.remedy.at / 1000));
  }
  return clauseOf('what Kubernetes does', noEnd(seen, why));
}

/** The old pod stays until its kubelet or somebody else removes it. */
function removalIn(seen: AwaitedStory, evictedS: number): Awaited {
  const { scenario, remedy, remedyName } = seen.story;
  const since = `evicted at ${at(evictedS)}`;
  const {
    remedy: { at: remedyAt },
  } = scenario;
  // One that acts at the eviction, or at what comes before it, acts now.
  const isDue = remedyAt === 'terminating' || remedyAt === 'not-ready' || remedy !== undefined;
  if (scenario.remedy.kind === 'none' || isDue) {
    const named = scenario.remedy.kind === 'none' ? '' : `, remedy ${remedyName}`;
    return clauseOf(`the old pod to go: ${since}${named}`, removedWhen(seen, evictedS));
  }
  const when =
    typeof remedyAt === 'number'
      ? expected(remedyAt / 1000)
      : noEnd(seen, `it comes at ${remedyAt}`);
  return clauseOf(`the remedy ${remedyName}: ${since}`, when);
}

function removedWhen(seen: AwaitedStory, evictedS: number): Due {
  const { scenario, remedy, faultAtMs = 0 } = seen.story;
  const begunS = remedy === undefined ? evictedS : (remedy.t - faultAtMs) / 1000;
  if (scenario.remedy.kind === 'strip-pod-finalizer') return soonAfter(begunS);
  if (scenario.workload.finalizer) return noEnd(seen, 'its finalizer holds it');
  if (scenario.remedy.kind === 'force-delete') return soonAfter(begunS);
  if (taints(scenario.remedy.kind))
    return because(by(begunS + podGcS.look), 'when the pod GC looks');
  if (scenario.remedy.kind === 'delete-node') {
    const mostS = begunS + 2 * podGcS.look + podGcS.quarantine;
    return because(by(mostS), 'when the pod GC has missed its node');
  }
  if (!silencesKubelet(scenario.fault.kind)) {
    const graceS = seen.timers.terminationGraceMs / 1000;
    return because(by(evictedS + graceS), `its grace period of ${graceS} s`);
  }
  const bootsS = bootsAtS(seen);
  if (bootsS !== undefined) {
    return { words: `expected once its node boots, at ${at(bootsS)}`, dueS: bootsS };
  }
  if (scenario.fault.kind === 'flapping-partition')
    return noEnd(seen, 'its kubelet reports now and then');
  return noEnd(seen, 'its kubelet cannot confirm, and nothing else removes it');
}

function detachIn(seen: AwaitedStory, goneS: number): Awaited {
  const { story, phases, timers } = seen;
  const { scenario, observations, faultAtMs = 0 } = story;
  const since = `pod gone at ${at(goneS)}`;
  if (isDirectory(scenario.disk.mode)) {
    return clauseOf(`the mount: ${since}, nothing is attached`, soonAfter(goneS));
  }
  if (phases.detached !== null) {
    return clauseOf(
      `the attach elsewhere: detached at ${at(phases.detached)}`,
      soonAfter(phases.detached),
    );
  }
  // A kubelet that reaches no API server can't report an unmount.
  const isHeard = !silencesKubelet(scenario.fault.kind);
  const roles = rolesIn(story);
  const unmounted = observations.find(
    (each) => each.t >= faultAtMs && milestones.unmounted.is(each, roles),
  );
  if (isHeard && unmounted !== undefined) {
    const reportedS = (unmounted.t - faultAtMs + timers.kubeletStatusMs) / 1000;
    return clauseOf(
      `the detach: ${since}`,
      because(by(Math.max(goneS, reportedS)), 'when its kubelet reports'),
    );
  }
  if (taints(scenario.remedy.kind)) {
    const isRefused = scenario.disk.mode === 'pending-while-busy';
    const why = 'the disk refuses while the old node has it mounted';
    return clauseOf(
      `the detach: ${since}, out-of-service`,
      isRefused ? noEnd(seen, why) : soonAfter(goneS),
    );
  }
  if (scenario.timers.forceDetach === 'off') {
    const why = 'force-detach is off, and no kubelet reports an unmount';
    return clauseOf(`the detach: ${since}`, noEnd(seen, why));
  }
  // Another controller manager starts to wait again.
  const successor = observations.findLast(
    ({ name, t }) => name === observed.leaderAcquired && t > faultAtMs + goneS * 1000,
  );
  const fromS = successor === undefined ? goneS : (successor.t - faultAtMs) / 1000;
  const again = successor === undefined ? '' : `, a new controller manager at ${at(fromS)}`;
  const dueS = fromS + timers.forceDetachAfterMs / 1000;
  return isHeard
    ? clauseOf(`the detach: ${since}${again}`, {
        words: `expected once its kubelet reports, else forced at ${at(dueS)}`,
        dueS,
      })
    : clauseOf(`the force-detach: ${since}${again}`, expected(dueS));
}

function mountIn(seen: AwaitedStory, attachedS: number): Awaited {
  const { disk, fault } = seen.story.scenario;
  const waits =
    disk.mode === 'exclusive' && disk.watcherCheck === 'works' && silencesKubelet(fault.kind);
  const why = 'the disk waits until the old node stops watching it';
  const due = waits ? noEnd(seen, why) : soonAfter(attachedS);
  return clauseOf(`the mount: attached elsewhere at ${at(attachedS)}`, due);
}

/**
 * What a run waits for, since when and until when, from its records so far: the phases that the
 * report shows, and the timers in force.
 */
interface Outlook {
  /** Seconds after the fault. */
  readonly phases: Phases;
  /** How often nodes were refused the mount, a line each. */
  readonly refused: readonly string[];
  /** Undefined where nothing of Kubernetes is waited for. */
  readonly waiting: Awaited | undefined;
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
