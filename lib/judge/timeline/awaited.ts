/**
 * What a run waits for between the fault and the second mount: what, since when, and until when by
 * the timers in force, or why there is no deadline.
 */
import { kubernetesTimes, secondUs } from '../../core/index.ts';
import {
  isDirectory,
  removesPodObject,
  silencesKubelet,
  taints,
  takesAttachment,
} from '../../scenario/index.ts';
import type { Phases } from '../verdict/verdict.ts';
import { type Timers, observed } from '../../history/index.ts';
import { milestones, rolesIn, type Story, phasesOf, sinceFaultS } from './story.ts';
import { refusedMountsOf } from './access.ts';

/** What a clause is made of. */
interface SoFar {
  readonly story: Story;
  readonly phases: Phases;
  readonly timers: Timers;
  /** Its kubelet reports nothing. */
  readonly isSilent: boolean;
  /** Seconds after the fault; undefined where it is not begun. */
  readonly remedyS: number | undefined;
  /** By itself, where the scenario says when. */
  readonly bootsS: number | undefined;
}

const { podGcUs, quarantineUs, attachDetachSyncUs, volumeBackOff } = kubernetesTimes;
const podGcS = { look: podGcUs / secondUs, quarantine: quarantineUs / secondUs };
/** Until the attach/detach controller misses an attachment that it did not delete. */
const missedWithinS = attachDetachSyncUs / secondUs;
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
const by = (s: number, why: string): Due => ({ words: `expected by ${at(s)}, ${why}`, dueS: s });
const soon = (s: number): Due => ({ words: 'expected within seconds', dueS: s });
const noEnd = ({ story }: SoFar, why: string): Due => ({
  words: `no deadline: ${why}; the watch ends at ${at(story.scenario.watch.horizon / 1000)}`,
});
const clauseOf = (what: string, { words, ...due }: Due): Awaited => ({
  clause: `${what}, ${words}`,
  ...due,
});

/** In the order in which Kubernetes takes these decisions: the first that is not there yet. */
function awaitedIn(story: Story, phases: Phases, refusedS?: number): Awaited | undefined {
  const { scenario, setup, faultAtMs, remedy } = story;
  const phase = story.records.findLast((record) => record.type === 'phase')?.phase;
  if (faultAtMs === undefined || setup?.timers === undefined || phase !== 'watch') return undefined;
  const { kind, rebootAt, recreations } = scenario.fault;
  const sofar: SoFar = {
    ...{ story, phases, timers: setup.timers, isSilent: silencesKubelet(kind) },
    remedyS: remedy && sinceFaultS(story, remedy.t),
    bootsS: kind === 'node-reboot' && typeof rebootAt === 'number' ? rebootAt / 1000 : undefined,
  };
  const { evicted, podRemoved, attached, secondMount } = phases;
  if (recreations > 0) {
    const what = `the pod to be Ready again, ${recreations} times`;
    return clauseOf(what, noEnd(sofar, 'each start takes its time'));
  }
  if (secondMount !== null) {
    const { horizon, patience } = scenario.watch;
    const untilS = Math.min(horizon / 1000, secondMount + patience / 1000);
    return {
      clause: `the successor’s first commits: mounted at ${at(secondMount)}, at most until ${at(untilS)}`,
    };
  }
  if (refusedS !== undefined) {
    const why = `kubelet tries again, at least every ${longestBackOffS} s`;
    return clauseOf(
      `a mount that is not refused: refused first at ${at(refusedS)}`,
      noEnd(sofar, why),
    );
  }
  if (attached !== null) return mountIn(sofar, attached);
  if (podRemoved !== null) return detachIn(sofar, podRemoved);
  if (evicted !== null) return removalIn(sofar, evicted);
  return evictionIn(sofar);
}

/** The node is given up first, and then its pods. */
function evictionIn(sofar: SoFar): Awaited {
  const { story, phases, timers, isSilent } = sofar;
  const { observations, victimNode, faultAtMs = 0 } = story;
  const readiness = observations.filter(
    ({ name, node, t }) => name === observed.nodeReady && node === victimNode && t >= faultAtMs,
  );
  const lastReady = readiness.findLastIndex(({ data }) => data.status === 'True');
  if (readiness.length === 0) return isSilent ? missingIn(sofar) : nothingTimed(sofar);
  // It is Ready.
  if (lastReady === readiness.length - 1) return nothingTimed(sofar);
  const since = readiness[lastReady + 1];
  const sinceS = since === undefined ? (phases.notReady ?? 0) : (since.t - faultAtMs) / 1000;
  const dueS = sinceS + timers.tolerationMs / 1000;
  return clauseOf(`the eviction: NotReady at ${at(sinceS)}`, expected(dueS));
}

/** The last heartbeat was before the fault, and the monitor looks every few seconds. */
function missingIn(sofar: SoFar): Awaited {
  const { story, timers, bootsS = Infinity } = sofar;
  const { kind } = story.scenario.fault;
  const dueS = timers.nodeMonitorGraceMs / 1000;
  // Its fault has an end of its own.
  const booted = story.records.find(
    (record) => record.type === 'action' && record.name === kind && record.step === 'healed',
  );
  if (kind === 'node-reboot' && booted !== undefined) {
    const what = `a second mount: the node booted at ${at(sinceFaultS(story, booted.t))}`;
    return clauseOf(what, noEnd(sofar, 'a node that is back in time keeps its pods'));
  }
  return bootsS < dueS
    ? clauseOf('the node to boot: down since the fault', expected(bootsS))
    : clauseOf('the node to be NotReady: no heartbeat since the fault', expected(dueS));
}

/** While the node's kubelet reports, only the remedy starts a timer. */
function nothingTimed(sofar: SoFar): Awaited {
  const { story, remedyS } = sofar;
  const { fault, remedy } = story.scenario;
  const why = fault.kind === 'none' ? 'there is no fault' : 'its kubelet may still report';
  if (remedyS !== undefined) {
    const what = `the effect of the remedy ${story.remedyName}: begun at ${at(remedyS)}`;
    return clauseOf(what, noEnd(sofar, why));
  }
  return remedy.kind !== 'none' && typeof remedy.at === 'number' && !remedy.ifOff
    ? clauseOf(`the remedy ${story.remedyName}`, expected(remedy.at / 1000))
    : clauseOf('what Kubernetes does', noEnd(sofar, why));
}

/** A remedy that acts at the eviction, or at what comes before it, acts now. */
const atEviction: ReadonlySet<unknown> = new Set(['terminating', 'not-ready']);

/** The old pod stays until its kubelet or somebody else removes it. */
function removalIn(sofar: SoFar, evictedS: number): Awaited {
  const { story, remedyS } = sofar;
  const { kind, at: remedyAt, ifOff } = story.scenario.remedy;
  const since = `evicted at ${at(evictedS)}`;
  if (kind === 'none' || (atEviction.has(remedyAt) && !ifOff) || remedyS !== undefined) {
    const named = kind === 'none' ? '' : `, remedy ${story.remedyName}`;
    return clauseOf(`the old pod to go: ${since}${named}`, removedWhen(sofar, evictedS));
  }
  const what = `the remedy ${story.remedyName}: ${since}`;
  if (ifOff) return clauseOf(what, noEnd(sofar, 'it comes once the machine is off'));
  const when =
    typeof remedyAt === 'number'
      ? expected(remedyAt / 1000)
      : noEnd(sofar, `it comes at ${remedyAt}`);
  return clauseOf(what, when);
}

function removedWhen(sofar: SoFar, evictedS: number): Due {
  const { story, timers, isSilent, bootsS, remedyS: begunS = evictedS } = sofar;
  const { fault, remedy, workload } = story.scenario;
  if (story.remedyRefused !== undefined) return noEnd(sofar, 'an admission policy refused it');
  if (remedy.kind === 'strip-pod-finalizer') return soon(begunS);
  if (workload.finalizer) return noEnd(sofar, 'its finalizer holds it');
  if (taints(remedy.kind)) return by(begunS + podGcS.look, 'when the pod GC looks');
  if (remedy.kind === 'delete-node') {
    const mostS = begunS + 2 * podGcS.look + podGcS.quarantine;
    return by(mostS, 'when the pod GC has missed its node');
  }
  if (removesPodObject(remedy.kind)) return soon(begunS);
  if (!isSilent) {
    const graceS = timers.terminationGraceMs / 1000;
    return by(evictedS + graceS, `its grace period of ${graceS} s`);
  }
  if (bootsS !== undefined)
    return { words: `expected once its node boots, at ${at(bootsS)}`, dueS: bootsS };
  return fault.kind === 'flapping-partition'
    ? noEnd(sofar, 'its kubelet reports now and then')
    : noEnd(sofar, 'its kubelet cannot confirm, and nothing else removes it');
}

function detachIn(sofar: SoFar, goneS: number): Awaited {
  const { story, phases, timers, isSilent } = sofar;
  const { scenario, observations, faultAtMs = 0 } = story;
  const since = `pod gone at ${at(goneS)}`;
  if (isDirectory(scenario.disk.mode))
    return clauseOf(`the mount: ${since}, nothing is attached`, soon(goneS));
  if (phases.detached !== null) {
    const what = `the attach elsewhere: detached at ${at(phases.detached)}`;
    return clauseOf(what, soon(phases.detached));
  }
  const roles = rolesIn(story);
  const unmounted = observations.find(
    (each) => each.t >= faultAtMs && milestones.unmounted.is(each, roles),
  );
  // A kubelet that reaches no API server can't report an unmount.
  if (!isSilent && unmounted !== undefined) {
    const reportedS = (unmounted.t - faultAtMs + timers.kubeletStatusMs) / 1000;
    const due = by(Math.max(goneS, reportedS), 'when its kubelet reports');
    return clauseOf(`the detach: ${since}`, due);
  }
  if (takesAttachment(scenario.remedy.kind)) {
    const due = by(goneS + missedWithinS, 'when the controller misses the attachment');
    return clauseOf(`the detach: ${since}, its attachment deleted`, due);
  }
  if (taints(scenario.remedy.kind)) {
    const isRefused = scenario.disk.mode === 'pending-while-busy';
    const why = 'the disk refuses while the old node has it mounted';
    const due = isRefused ? noEnd(sofar, why) : soon(goneS);
    return clauseOf(`the detach: ${since}, out-of-service`, due);
  }
  if (scenario.timers.forceDetach === 'off') {
    const why = 'force-detach is off, and no kubelet reports an unmount';
    return clauseOf(`the detach: ${since}`, noEnd(sofar, why));
  }
  // Another controller manager starts to wait again.
  const anew = observations.findLast(
    ({ name, t }) => name === observed.leaderAcquired && t > faultAtMs + goneS * 1000,
  );
  const fromS = anew === undefined ? goneS : (anew.t - faultAtMs) / 1000;
  const again = anew === undefined ? '' : `, a new controller manager at ${at(fromS)}`;
  const dueS = fromS + timers.forceDetachAfterMs / 1000;
  if (isSilent) return clauseOf(`the force-detach: ${since}${again}`, expected(dueS));
  const words = `expected once its kubelet reports, else forced at ${at(dueS)}`;
  return clauseOf(`the detach: ${since}${again}`, { words, dueS });
}

function mountIn(sofar: SoFar, attachedS: number): Awaited {
  const { disk } = sofar.story.scenario;
  const waits = disk.mode === 'exclusive' && disk.watcherCheck === 'works' && sofar.isSilent;
  const why = 'the disk waits until the old node stops watching it';
  const due = waits ? noEnd(sofar, why) : soon(attachedS);
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
