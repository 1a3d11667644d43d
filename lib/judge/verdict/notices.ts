/**
 * What an operator can see, from which source and when: Kubernetes' events, refused mounts, the servers'
 * error logs, and checks that find damage. What any fail-over shows is told apart from what points to harm.
 */
import { countInWords } from '../../core/index.ts';
import type { JudgedDatabase } from '../database.ts';
import {
  type ObservationRecord,
  isWarning,
  attachGateTexts,
  csiCalls,
  observed,
} from '../../history/index.ts';
import type { Story } from '../timeline/story.ts';
import { gapsOf } from '../evidence/observer-gaps.ts';
import { bareSummary } from './corruption.ts';
import type { Finding, Notice } from './verdict.ts';

interface SaidNotice extends Pick<Notice, 'by' | 'what' | 'ofHarm' | 'evidence'> {
  readonly times: number;
}

/** In order of time, those of copies last. `damage`: what the checks of the copies found. */
export function noticesOf(story: Story, damage: readonly Finding[]): Notice[] {
  const { faultAtMs, healAtMs, observations, database } = story;
  if (faultAtMs === undefined) return [];
  const heard = new Heard(story);
  const counts = new Map<string, Notice>();
  for (const seen of observations) {
    const said = told(seen, heard, database);
    heard.see(seen);
    if (said === undefined || seen.t < faultAtMs) continue;
    const when = seen.t < healAtMs ? 'before the heal' : 'after the heal';
    const lastS = Math.round(seen.t - faultAtMs) / 1000;
    const { times, ...about } = said;
    const key = JSON.stringify([said.by, said.what, said.ofHarm, when]);
    const before = counts.get(key) ?? { ...about, count: 0, firstS: lastS, lastS, when };
    counts.set(key, { ...before, count: before.count + times, lastS });
  }
  const checked = Object.entries(checks(database)).flatMap(([code, by]) =>
    damage.filter((each) => each.code === code).map((finding) => ofCheck(finding, by)),
  );
  return [...counts.values(), ...checked];
}

/** The first that would make an operator look for harm: in time, then in a copy, then after the heal. */
export function firstTold(notices: readonly Notice[]): Notice | undefined {
  const rank = ({ when, firstS }: Notice): number =>
    (when === 'before the heal' ? 0 : 2) + (firstS === null ? 1 : 0);
  return notices
    .filter(({ ofHarm }) => ofHarm)
    .toSorted((a, b) => rank(a) - rank(b) || (a.firstS ?? 0) - (b.firstS ?? 0))[0];
}

/** `the mount on worker2 was refused (fsck, 14 times from +75.2 s)`. */
export function noticeInWords({ by, what, count, firstS, when }: Notice): string {
  if (firstS === null) return `${what} (${by}, on the copy from ${when})`;
  const at = `+${firstS.toFixed(1)} s`;
  const often = count === 1 ? `at ${at}` : `${countInWords(count)} times from ${at}`;
  return `${what} (${by}, ${often}${when === 'after the heal' ? ', after the heal' : ''})`;
}

/** `silent` is claimed only where those who would have told were heard all the time. */
export function noticedBy(
  story: Story,
  findings: readonly Finding[],
  notices: readonly Notice[],
): 'loud' | 'silent' | null {
  if (findings.every(({ safety }) => safety === 'safe')) return null;
  if (notices.some(({ ofHarm }) => ofHarm)) return 'loud';
  return deafness(story).length > 0 ? null : 'silent';
}

/** Who was not heard all the time, where the history tells. */
export const deafness = (story: Story): string[] =>
  story.tells.allSources
    ? ['api', story.database.server].flatMap((source) => gapsOf(story, source))
    : [];

function told(
  seen: ObservationRecord,
  heard: Heard,
  { server, log }: JudgedDatabase,
): SaidNotice | undefined {
  const { name, node = '', data } = seen;
  if (name === observed.event) return ofEvent(seen, heard);
  if (name === observed.serverLog && data.line.includes(log.signs.error)) {
    // A server whose disk was taken away says so, and no more.
    const ofHarm = !heard.isCut(node, seen.t);
    const what = `errors in the error log on ${node}`;
    return { by: server, what, ofHarm, evidence: data.line, times: 1 };
  }
  const { call, error } = data;
  const isRefusal = name === observed.csiCall && error !== undefined;
  if (!isRefusal || (call !== csiCalls.stage && call !== csiCalls.nodePublish)) return undefined;
  const evidence = typeof error === 'string' ? error : JSON.stringify(error);
  const by = /fsck/i.test(evidence) ? 'fsck' : 'the storage driver';
  return { by, what: `the mount on ${node} was refused`, ofHarm: true, evidence, times: 1 };
}

/** Warnings that a fail-over brings with it, whatever becomes of the data. */
const ordinary = new Set(['NodeNotReady', 'FailedScheduling', 'TaintManagerEviction']);

function ofEvent(seen: ObservationRecord, heard: Heard): SaidNotice | undefined {
  const { data } = seen;
  const [kind = '', name = ''] = String(data.object).split('/');
  const reason = String(data.reason);
  if (!isWarning(data) || !aboutDatabase.has(kind)) return undefined;
  const evidence = String(data.message);
  const probe = /^(Readiness|Liveness|Startup) probe/.exec(evidence)?.[1]?.toLowerCase();
  const waits = reason === 'FailedAttachVolume' && isGate(evidence);
  const isStart = probe === 'startup' || (probe === 'readiness' && !heard.hadServed(name));
  return {
    by: typeof data.from === 'string' ? data.from : 'Kubernetes',
    what: probe === undefined ? `event ${reason}` : `event ${reason} (${probe} probe)`,
    ofHarm: !ordinary.has(reason) && !waits && !isStart && !heard.isOfCut(seen),
    evidence,
    times: heard.newTimes(data),
  };
}

const aboutDatabase = new Set([
  'Pod',
  'PersistentVolume',
  'PersistentVolumeClaim',
  'VolumeAttachment',
]);

const isGate = (message: string): boolean =>
  attachGateTexts.some((text) => message.startsWith(text));

/** Who looks ten times a second sees a cut later than the server, and on a busy machine much later. */
const seenLateMs = 5000;

/** What was seen so far, as far as the meaning of what comes next depends on it. */
class Heard {
  /** Whether the newest pod of a name was Ready once, and nobody ends it. */
  readonly #served = new Map<string, boolean>();
  readonly #story: Story;
  /** What became of the disks of each node, in order of time. */
  readonly #disks: ReadonlyMap<string | undefined, readonly ObservationRecord[]>;
  /** How often each event had happened when it was last told. */
  readonly #times = new Map<string, number>();

  constructor(story: Story) {
    this.#story = story;
    const ofDisks = story.observations.filter(
      ({ name }) => name === observed.deviceCut || name === observed.mounted,
    );
    this.#disks = Map.groupBy(ofDisks, ({ node }) => node);
  }

  see({ name, data }: ObservationRecord): void {
    const pod = String(data.pod);
    if (name === observed.podCreated || name === observed.podTerminating) {
      this.#served.set(pod, false);
    } else if (name === observed.podReady && data.ready) this.#served.set(pod, true);
    else if (name === observed.event) this.#times.set(keyOf(data), data.count ?? 0);
  }

  hadServed(pod: string): boolean {
    return this.#served.get(pod) ?? false;
  }

  /** Its disk was taken away, and it has got no other since. */
  isCut(node: string, atMs: number): boolean {
    const own = this.#disks.get(node) ?? [];
    const cut = own.findLast(
      ({ name, t }) => name === observed.deviceCut && t <= atMs + seenLateMs,
    );
    return (
      cut !== undefined &&
      !own.some(({ name, t }) => name === observed.mounted && t > cut.t && t <= atMs)
    );
  }

  /**
   * A node without its disk tells of a pod that can't run there, harm or none. Where an event does
   * not say whose it is, it may be the victim's after the heal.
   */
  isOfCut({ t, node }: ObservationRecord): boolean {
    const { tells, healAtMs, victimNode } = this.#story;
    const whose = node ?? (!tells.allSources && t >= healAtMs ? victimNode : undefined);
    return whose !== undefined && this.isCut(whose, t);
  }

  /** Events count up; without a count each was told once a time. */
  newTimes(data: ObservationRecord['data']): number {
    const { count } = data;
    return typeof count === 'number' ? Math.max(1, count - (this.#times.get(keyOf(data)) ?? 0)) : 1;
  }
}

const keyOf = ({ object, reason, message, from }: ObservationRecord['data']): string =>
  JSON.stringify([object, reason, message, from]);

function ofCheck(finding: Finding, by: string): Notice {
  const { summary, evidence, loud } = finding;
  const when = summary.startsWith('first') ? 'before the heal' : 'after the heal';
  const what = bareSummary(finding);
  return {
    ...{ by, what, count: 1, when, ofHarm: loud },
    ...{ firstS: null, lastS: null, evidence: evidence[0] ?? '' },
  };
}

/**
 * Tools that an operator has, by the finding that they make, the plainest word first; some of them
 * nobody runs unasked.
 */
const checks = ({ tools }: JudgedDatabase): Readonly<Record<string, string>> => ({
  FILE_SYSTEM_UNMOUNTABLE: 'mount',
  FSCK_ERRORS: 'fsck',
  ...tools.byFinding,
});
