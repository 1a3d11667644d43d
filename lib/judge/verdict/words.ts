/** The verdict in words: headline, sentence, and what an operator could see. */
import { countInWords, medianOf, secondsInWords } from '../../core/index.ts';
import {
  type ObservationRecord,
  attachGateTexts,
  csiCalls,
  isWarning,
  observed,
  recordedScenario,
} from '../../history/index.ts';
import type { JudgedDatabase } from '../database.ts';
import { silencesOf } from '../evidence/attendance.ts';
import { refusedInWords } from '../timeline/access.ts';
import { ownSteps } from '../timeline/licence.ts';
import type { Story } from '../timeline/story.ts';
import { rolloutWaits, wayBack } from './findings.ts';
import type { Finding, Notice, Verdict, VerdictWord } from './verdict.ts';
import { isDirectory } from '../../scenario/index.ts';

/** By the code of the finding, the plainest first; any other says it in its own words. */
const plainest = ({
  server,
}: Pick<JudgedDatabase, 'server'>): Readonly<Record<string, string>> => ({
  FILE_SYSTEM_UNMOUNTABLE: 'its file system cannot be mounted',
  SERVER_CANNOT_START: `${server} cannot start`,
  SERVER_DIED: `${server} dies while it reads its data`,
  FSCK_ERRORS: 'its file system has errors',
});

/** Without the copy that it was found on. */
export const bareSummary = ({ summary }: Pick<Finding, 'summary'>): string =>
  summary.replace(/^\w+ image: /, '');

export function corruptionIn(
  findings: readonly Finding[],
  database: Pick<JudgedDatabase, 'server'>,
): string {
  const found = findings.filter(({ safety }) => safety === 'corrupt');
  const words = plainest(database);
  const code = Object.keys(words).find((each) => found.some((finding) => finding.code === each));
  if (code !== undefined) return words[code] ?? code;
  return found[0] === undefined ? 'a structure is broken' : bareSummary(found[0]);
}

// What a run found, in at most fifteen words; the sentence has the rest.

export type UnsaidVerdict = Omit<Verdict, 'sentence'>;

export const headlineOf = (verdict: UnsaidVerdict): string => headlines[verdict.verdict](verdict);

const headlines: Readonly<Record<VerdictWord, (verdict: UnsaidVerdict) => string>> = {
  inconclusive: () => 'The evidence is incomplete: this run proves nothing.',
  corrupt: (verdict) => `The database is corrupt: ${letIn(verdict)}.`,
  lost(verdict) {
    const { missing, lost: worst, acked } = verdict;
    const { count: lost, of } = missing.lost ?? { count: worst ?? 0, of: acked };
    // An unacknowledged commit that a client read is lost as well.
    if (lost === 0) return `Commits that a client read are gone: ${letIn(verdict)}.`;
    return `${countInWords(lost)} of ${countInWords(of)} acknowledged commits are lost: ${letIn(verdict)}.`;
  },
  exposed: (verdict) => `${capital(letIn(verdict))}; no damage was found${end(verdict)}.`,
  safe(verdict) {
    const there = `all ${countInWords(verdict.acked)} commits are there${end(verdict)}`;
    return `${capital(ownAnswer(verdict) ?? moveHeadline(verdict))}; ${there}.`;
  },
};

const letIn = (told: UnsaidVerdict): string =>
  ownAnswer(told) ??
  (told.exposure.ms > 0
    ? `two nodes could write for ${secondsInWords(told.exposure.ms / 1000)}`
    : moveHeadline(told));

function moveHeadline(told: UnsaidVerdict): string {
  const { phases, refusedMounts, horizonS } = told;
  if (phases.secondMount !== null) {
    const after = `after ${secondsInWords(phases.secondMount)}`;
    return locksKeepApart(told)
      ? `another node mounted ${after}, locked out`
      : `another node took over ${after}`;
  }
  if (refusedMounts.some(({ firstS }) => firstS < horizonS))
    return 'the successor’s mount was refused';
  return `no second mount in ${secondsInWords(horizonS)}`;
}

/** Whole data that no client can reach is half an answer. */
const end = ({ serving }: UnsaidVerdict): string => (serving.served ? '' : ', but nothing serves');

const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** A clause; undefined where the run asked no more, or its records do not answer. */
const ownAnswer = (verdict: UnsaidVerdict): string | undefined =>
  [recreated, waitedAnew, refusedDetach, cameBack, rolledOut]
    .map((answer) => answer(verdict))
    .find((clause) => clause !== undefined);

/** When is a pod Ready that is deleted and comes back to its node? */
function recreated({ findings }: UnsaidVerdict): string | undefined {
  const times = findings
    .find(({ code }) => code === 'PODS_RECREATED')
    ?.evidence.map(Number.parseFloat);
  const median = medianOf(times ?? []);
  return median === undefined || times === undefined
    ? undefined
    : `Ready after ${secondsInWords(median)} at the median of ${times.length} deletions`;
}

/** Does the wait for a lost node hold where the controller manager dies in it? */
function waitedAnew({ licence, phases }: UnsaidVerdict): string | undefined {
  if (phases.secondMount === null || !licence.some(({ step }) => step === ownSteps.newManager))
    return undefined;
  return `the wait started again, second mount after ${secondsInWords(phases.secondMount)}`;
}

/** Does Kubernetes attach a second node where the storage refuses to detach the first? */
const refusedDetach = ({ licence, phases }: UnsaidVerdict): string | undefined =>
  phases.attached !== null && licence.some(({ step }) => step === ownSteps.uncertain)
    ? 'the refused detach did not keep a second node out'
    : undefined;

/** Does a node that gets its volume back use the mount that it had? */
function cameBack({ findings }: UnsaidVerdict): string | undefined {
  const came = (word: string): boolean => findings.some(({ code }) => code === word);
  if (came(wayBack.old)) return 'the first node used its old mount';
  return came(wayBack.anew) ? 'the first node mounted it again' : undefined;
}

/** Does a rolling update of one claim come to its end? */
const rolledOut = ({ findings }: UnsaidVerdict): string | undefined =>
  findings.some(({ code }) => code === rolloutWaits) ? 'the rollout did not end' : undefined;

/** On a shared directory with one lock table a second database waits, and its mount says nothing. */
export const locksKeepApart = ({ scenario }: UnsaidVerdict): boolean => {
  const { disk } = recordedScenario(scenario);
  return isDirectory(disk.mode) && disk.fileLocks === 'shared';
};

// The verdict in a few short sentences with numbers, for a terminal and the top of a report.

export function sentenceOf(
  verdict: UnsaidVerdict,
  database: Pick<JudgedDatabase, 'server'>,
): string {
  const sentences = [handover, inconclusive, damage, serving, notice].flatMap((part) =>
    part(verdict, database),
  );
  const prefix = verdict.basis === 'predicted' ? 'Prediction: ' : '';
  return `${prefix}${sentences.map((each) => `${capital(each)}.`).join(' ')}`;
}

/** Which node got the volume, when, and whether the other side could still write. */
function handover(verdict: UnsaidVerdict): string[] {
  const { phases, exposure, horizonS, scenario, custom, refusedMounts } = verdict;
  const kind = custom?.fault ?? scenario.fault.kind;
  const fault = kind === 'none' ? 'start' : kind.replaceAll('-', ' ');
  if (horizonS === 0) return [`the ${fault} never came`];
  const both =
    exposure.ms === 0
      ? []
      : [`two nodes could write the volume for ${secondsInWords(exposure.ms / 1000)}`];
  if (phases.secondMount === null) {
    const refused = refusedMounts.find(({ firstS }) => firstS < horizonS);
    const none = `no second mount came within ${secondsInWords(horizonS)} after the ${fault}`;
    return [...(refused === undefined ? [] : [refusedInWords(refused)]), ...both, none];
  }
  const mounted = `another node mounted the volume ${secondsInWords(phases.secondMount)} after the ${fault}`;
  return exposure.ms === 0 ? [`${mounted}, ${keptApart(verdict)}`] : [mounted, ...both];
}

const keptApart = (verdict: UnsaidVerdict): string =>
  locksKeepApart(verdict)
    ? 'and its database waited for the file locks of the victim’s'
    : 'when the victim could no longer write';

const inconclusive = ({ verdict, incompleteBecause }: UnsaidVerdict): string[] =>
  verdict === 'inconclusive'
    ? [`inconclusive: ${incompleteBecause[0] ?? 'evidence is missing'}`]
    : [];

function damage(verdict: UnsaidVerdict, database: Pick<JudgedDatabase, 'server'>): string[] {
  const { acked, loss, images, findings } = verdict;
  if (verdict.verdict === 'inconclusive') return [];
  const harmed = images.filter(({ lost, readable }) => lost !== 0 || !readable);
  const all = `the ${countInWords(acked)} acknowledged commits`;
  const copies =
    harmed.length > 0
      ? harmed.map(harm)
      : loss === null
        ? [`it is not known whether ${all} are there`]
        : [`all ${countInWords(acked)} acknowledged commits are there`];
  // They have no acknowledgement, so that no number of acknowledged commits counts them.
  const read =
    verdict.verdict === 'lost' && harmed.length === 0 ? ['others that a client read are gone'] : [];
  const corrupt =
    verdict.verdict === 'corrupt'
      ? [`the database is corrupt: ${corruptionIn(findings, database)}`]
      : [];
  return [...copies, ...read, ...corrupt];
}

/** Whole data that no client can reach is half an answer. Damage says more, and comes before it. */
const serving = ({ verdict, serving: { served } }: UnsaidVerdict): string[] =>
  served || (verdict !== 'safe' && verdict !== 'exposed')
    ? []
    : [`${verdict}, but nothing serves after the heal`];

/** What the fault did and what the heal did are told apart; what can't be read may still be there. */
function harm({ image, acked, lost, readable }: UnsaidVerdict['images'][number]): string {
  const when = image === 'second' ? 'after the heal' : 'before the heal';
  if (acked === 0 && !readable) return `${when}, the database could not be read`;
  const of = `of ${countInWords(acked)} acknowledged commits`;
  if (lost === null) return `it is not known how many ${of} were there ${when}`;
  return `${when}, ${countInWords(lost)} ${of} ${readable ? 'were lost' : 'could not be read'}`;
}

function notice({ noticed, notices, verdict }: UnsaidVerdict): string[] {
  if (noticed === null || verdict === 'inconclusive') return [];
  if (noticed === 'silent') return ['no event, probe, error log or check shows it'];
  const first = firstTold(notices);
  return [`visible to an operator${first === undefined ? '' : `: ${noticeInWords(first)}`}`];
}

// What an operator can see, from which source and when: Kubernetes' events, refused mounts, the servers'
// error logs, and checks that find damage. What any fail-over shows is told apart from what points to harm.

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
    ? ['api', story.database.server].flatMap((source) => silencesOf(story, source))
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
