/** Did each observer see, all the time, and do they agree? */
import { z } from 'zod';
import { meanOf, silencesIn, toldInSeconds, toldSpan } from '../../core/index.ts';
import {
  type MachineRecord,
  type ObservationRecord,
  type ObservedName,
  type RunRecord,
  type WriteLog,
  beatWithinMs,
  csiCalls,
  isCall,
  isGranted,
  observed,
  writeOps,
} from '../../history/index.ts';
import { type Access, callEndMs } from '../timeline/access.ts';
import type { UnseenCommits, UnseenOptions } from '../timeline/clients.ts';
import { type Story, lookedUntilMs } from '../timeline/story.ts';
import { isDirectory, losesPower, takesAttachment } from '../../scenario/index.ts';

/** A sentence for each source that nobody watched, or not all the time. */
export function observerGaps(story: Story): string[] {
  const { tells, faultAtMs, records, run } = story;
  if (!tells.ends || faultAtMs === undefined) return [];
  const gaps = neededSources(story).flatMap((source) => gapsOf(story, source));
  if (isPredicted(run)) return gaps;
  const looked = records.filter(({ type }) => type === 'machine').map(({ t }) => t);
  return [
    ...gaps,
    ...silences(looked, faultAtMs, lookedUntilMs(story)).map(
      (gap) => `nothing observed the machine ${gap}`,
    ),
  ];
}

/** When what this source tells was not watched, by any one of those who were to. */
export function gapsOf(story: Story, source: string): string[] {
  const { faultAtMs } = story;
  if (faultAtMs === undefined) return [];
  const lives = livesOf(story.observations, source);
  if (lives.length === 0) return [`no observer of ${source} ever began`];
  return lives.flatMap(({ node, seen }) => {
    const who = `the observer of ${source}${node === undefined ? '' : ` on ${node}`}`;
    return lifeGaps(story, seen).map((gap) => `${who} ${gap}`);
  });
}

function neededSources({ scenario, run }: Story): string[] {
  const { fault, also, disk } = scenario;
  // Where the API server answers nobody, nobody is told anything.
  const api = fault.kind === 'api-outage' || also.kind === 'api-outage' ? [] : ['api'];
  const disks = ['csi', 'mounts', ...(isDirectory(disk.mode) ? [] : ['devices'])];
  if (run.schemaVersion < 3) return [...api, ...disks];
  // The model has no audit log. The servers' log is asked for where it is used (words.ts).
  return [...api, ...disks, 'controller-manager', ...(isPredicted(run) ? [] : ['audit'])];
}

/** By what its backend declared, never by its name: whoever is real has to show it all. */
const isPredicted = ({ basis }: RunRecord): boolean => basis === 'predicted';

interface Life {
  /** Where it sees on this node only. */
  readonly node: string | undefined;
  /** Its beginnings, beats and ends. */
  readonly seen: readonly ObservationRecord[];
}

/** One for each observer that was to see this. */
function livesOf(observations: readonly ObservationRecord[], source: string): Life[] {
  const seen = observations.filter(
    ({ name, data }) => lifeSigns.has(name) && data.sees?.includes(source) === true,
  );
  const keyOf = ({ node, data }: ObservationRecord): string => `${String(data.observer)}@${node}`;
  const byKey = Map.groupBy(seen, keyOf);
  return [...byKey.values()].map((all) => ({ node: all[0]?.node, seen: all }));
}

const lifeSigns = new Set<string>([
  observed.observerBegan,
  observed.observerBeat,
  observed.observerEnded,
]);

function lifeGaps(story: Story, seen: Life['seen']): string[] {
  const { faultAtMs = 0 } = story;
  const toMs = lookedUntilMs(story);
  const ends = seen.filter(({ name }) => name === observed.observerEnded);
  const early = ends.filter((end) => end.t < toMs && !wentWithItsNode(end, story));
  const signs = seen.filter(({ name }) => name !== observed.observerEnded).map(({ t }) => t);
  return [
    ...silences([...signs, ...excused(seen, story)], faultAtMs, toMs).map(
      (gap) => `was silent ${gap}`,
    ),
    ...early.map(({ t }) => `ended at ${toldInSeconds(t)}, before the second image`),
    ...(ends.length === 0 ? ['never ended in good order'] : []),
  ];
}

/** What was to be seen is gone as well: only the victim's node may go. */
const wentWithItsNode = ({ node, data }: ObservationRecord, { victimNode }: Story): boolean =>
  typeof data.reason === 'string' && node !== undefined && node === victimNode;

/** Times that stand for signs of life while the node is away, until somebody begins there anew. */
const excused = (seen: Life['seen'], story: Story): number[] =>
  seen.flatMap((end, index) => {
    if (end.name !== observed.observerEnded || !wentWithItsNode(end, story)) return [];
    const untilMs = seen[index + 1]?.t ?? lookedUntilMs(story);
    const steps = Math.ceil(Math.max(0, untilMs - end.t) / beatWithinMs);
    return Array.from({ length: steps }, (_, step) => end.t + step * beatWithinMs);
  });

/** Within the span, from one sign of life to the next. */
function silences(times: readonly number[], fromMs: number, toMs: number): string[] {
  const signs = times.filter((t) => t > fromMs && t < toMs).toSorted((a, b) => a - b);
  return silencesIn([fromMs, ...signs, toMs], beatWithinMs);
}

const movesVolume = new Set<string>([
  observed.podTerminating,
  observed.podGone,
  observed.attachmentDeleting,
  observed.attachmentGone,
  observed.attachmentAttached,
  observed.unmounted,
]);

/** Observers that saw nothing at all were not there: "no second mount" would mean nothing. */
export function missingSights(story: Story): string[] {
  const { observations, scenario, run, tells, faultAtMs = 0 } = story;
  const needed: ObservedName[] = [observed.nodeReady, observed.mounted];
  // A pod that nobody ends leaves the driver nothing to be asked for.
  const hasMoved = observations.some(({ name, t }) => t >= faultAtMs && movesVolume.has(name));
  if (hasMoved) needed.push(observed.csiCall);
  // A shared directory has no device, and a link that survives never changes.
  if (!isDirectory(scenario.disk.mode)) needed.push(observed.deviceWritten);
  if (scenario.fault.link !== 'survives') needed.push(observed.linkChanged);
  const unseen = needed.filter((name) => !observations.some((seen) => seen.name === name));
  const sources = !isPredicted(run) && tells.allSources ? ofControlPlane : [];
  const mute = sources.filter((from) => !observations.some(({ source }) => source === from));
  return [
    ...unseen.map((name) => `no observer reported ${name}`),
    ...mute.map((source) => `the observer of ${source} reported nothing in the whole run`),
  ];
}

/** A real control plane tells of its start and of the pod's. */
const ofControlPlane = ['controller-manager', 'audit'];

// What an observer must have seen, because of what others saw: who beats and is blind is found by what must
// have happened. An attached volume has an attachment, a replaced pod went away, a detach without an unmount
// was forced, a counter never runs backwards.

/** What leads to a call is seen before it; watches and logs come so much late on a busy machine. */
const sightWithinMs = 30_000;

/**
 * Observers look ten times a second on kind, and a busy machine looks late. Where the log is synced
 * once a second only, what was acknowledged reaches the disk so much later.
 */
const deviceWithinMs = 15_000;

/** Commits whose blocks the devices' observer must have seen. A shared directory has no device. */
export const commitsToBeSeen = (story: Story): UnseenOptions => ({
  observations: story.observations,
  withinMs: deviceWithinMs,
  untilMs: isDirectory(story.scenario.disk.mode) ? 0 : lookedUntilMs(story),
});

export function expectedSights(story: Story, unseen: readonly UnseenCommits[]): string[] {
  if (!story.tells.allSources) return [];
  return sightsMissed(story, unseen);
}

/** The same of any history. */
export function sightsMissed(story: Story, unseen: readonly UnseenCommits[]): string[] {
  const { fault, also } = story.scenario;
  // Where the API server answers nobody, its observer sees nothing.
  const isApiSeen = fault.kind !== 'api-outage' && also.kind !== 'api-outage';
  return [
    ...unseen.map(
      ({ node, count, fromMs, toMs }) =>
        `${count} commits were acknowledged on ${node} ${toldSpan(fromMs, toMs)}, ` +
        'and the devices’ observer saw nothing written there',
    ),
    ...backwards(story),
    ...(isApiSeen ? [...attachments(story), ...replacedPods(story)] : []),
    ...callsNotTold(story),
    ...forcedDetaches(story),
  ];
}

/** A counter belongs to a path, and begins anew only where the node stages it again. */
function backwards({ observations }: Story): string[] {
  const stages = observations.filter(isCall(csiCalls.stage));
  const last = new Map<string, ObservationRecord>();
  const found = new Map<string, string>();
  for (const seen of observations) {
    const { name, node = '', t, data } = seen;
    if (name !== observed.deviceWritten) continue;
    const path = `${data.device} (generation ${String(data.generation)}) on ${node}`;
    const before = last.get(path);
    last.set(path, seen);
    if (before === undefined || bytesOf(seen) >= bytesOf(before)) continue;
    const isStaged = stages.some(
      (stage) => stage.node === node && stage.t >= before.t && stage.t <= t + deviceWithinMs,
    );
    if (isStaged || found.has(path)) continue;
    found.set(
      path,
      `${path} had ${bytesOf(before)} bytes written, and at ${toldInSeconds(t)} ${bytesOf(seen)}`,
    );
  }
  return [...found.values()];
}

const bytesOf = ({ data }: ObservationRecord): number => Number(data.bytesWritten);

/** From the fault on, but for what may be seen only after the end. */
const sinceFault = ({ observations, faultAtMs = 0, ...span }: Story): ObservationRecord[] =>
  observations.filter(({ t }) => t >= faultAtMs && t < lookedUntilMs(span) - sightWithinMs);

/** The driver attaches and detaches for a VolumeAttachment only. */
function attachments(story: Story): string[] {
  const { observations, faultAtMs = 0 } = story;
  const seen = (node: string | undefined, fromMs: number, ...names: readonly string[]): boolean =>
    observations.some(
      (each) => each.node === node && each.t >= fromMs && names.includes(each.name),
    );
  return [
    ...sinceFault(story)
      .filter(isGranted(csiCalls.publish))
      .filter(({ node }) => !seen(node, 0, observed.attachmentAttached))
      .map((call) => missed(call, 'attached the volume to')),
    ...sinceFault(story)
      .filter(isGranted(csiCalls.unpublish))
      .filter(
        ({ node }) => !seen(node, faultAtMs, observed.attachmentDeleting, observed.attachmentGone),
      )
      .map((call) => missed(call, 'detached the volume from')),
  ];
}

const missed = ({ node = 'a node', t }: ObservationRecord, what: string): string =>
  `the driver ${what} ${node} at ${toldInSeconds(t)}, and the API’s observer reported nothing`;

/** An attachment comes and goes with the driver's answer; who strips its finalizer asks nobody. */
function callsNotTold(story: Story): string[] {
  const { observations, scenario, faultAtMs = 0 } = story;
  const [publishes, unpublishes] = [csiCalls.publish, csiCalls.unpublish].map((call) =>
    observations.filter(isCall(call)),
  );
  const isTold = (
    calls: readonly ObservationRecord[] = [],
    { node, t }: ObservationRecord,
    fromMs: number,
  ): boolean =>
    calls.some((each) => each.node === node && each.t >= fromMs && each.t <= t + sightWithinMs);
  const seen = sinceFault(story);
  const attached = seen.filter(
    (each) => each.name === observed.attachmentAttached && !isTold(publishes, each, 0),
  );
  const gone = seen.filter(
    (each) =>
      each.name === observed.attachmentGone &&
      scenario.remedy.kind !== 'strip-attachment-finalizer' &&
      !isTold(unpublishes, each, faultAtMs),
  );
  return [
    ...attached.map((each) => untold(each, 'attached to', csiCalls.publish)),
    ...gone.map((each) => untold(each, 'detached from', csiCalls.unpublish)),
  ];
}

const untold = ({ node = 'a node', t }: ObservationRecord, what: string, call: string): string =>
  `the API says that the volume was ${what} ${node} by ${toldInSeconds(t)}, and the driver reports no ${call}`;

/** Two pods of one name are there one after the other. */
function replacedPods({ observations }: Story): string[] {
  const created = observations.filter(({ name }) => name === observed.podCreated);
  return created.flatMap(({ data, t }, index) => {
    const before = created
      .slice(0, index)
      .findLast((other) => other.data.pod === data.pod && other.data.uid !== data.uid);
    const isGone = observations.some(
      ({ name, data: gone }) =>
        name === observed.podGone && before !== undefined && gone['uid'] === before.data.uid,
    );
    return before === undefined || isGone
      ? []
      : [
          `pod ${String(data.pod)} was recreated at ${toldInSeconds(t)}, and no observer reported the one ` +
            'before it go',
        ];
  });
}

/**
 * A node that has not unstaged the volume loses it only by force: after the wait, or by the taint. A
 * remedy that deletes the attachment itself asks nobody; a node that booted again has nothing mounted.
 */
function forcedDetaches(story: Story): string[] {
  const { observations, scenario, faultAtMs = 0 } = story;
  if (takesAttachment(scenario.remedy.kind)) return [];
  const logged = observations.filter(
    ({ name, t }) => name === observed.forceDetachLog && t >= faultAtMs,
  );
  const unstages = observations.filter(isGranted(csiCalls.unstage));
  return sinceFault(story)
    .filter(isGranted(csiCalls.unpublish))
    .filter(
      ({ node, t }) =>
        !hasBooted(story, node, t) &&
        !unstages.some((each) => each.node === node && each.t <= t) &&
        !logged.some((each) => each.t <= t + sightWithinMs),
    )
    .map(
      ({ node = 'a node', t }) =>
        `the volume was detached from ${node} at ${toldInSeconds(t)} with no unmount before it, ` +
        'and the log of the controller manager has no forced detach',
    );
}

const hasBooted = (
  { records, scenario, faultName }: Story,
  node: string | undefined,
  atMs: number,
): boolean =>
  losesPower(scenario.fault.kind) &&
  records.some(
    (record) =>
      record.type === 'action' &&
      record.name === faultName &&
      record.step === 'heal' &&
      record.node === node &&
      record.t <= atMs,
  );

// What different observers say of one thing, compared: NodeStage and the mounts, the disk's log of writes and
// the devices. One that was blind is found by what another saw.

/**
 * Observers look ten times a second on kind, and a busy machine looks late: they may differ by so
 * much. The committed runs show 0.3 s for mounts.
 */
const lookWithinMs = 10_000;
/** Counters and log may differ by so much: what was under way when somebody looked. */
const slackBytes = 1024 ** 2;

/** A sentence for each disagreement, naming both sides. `writes`: a log without gaps. */
export function disagreements(story: Story, writes: WriteLog | undefined): string[] {
  const looked = lookedUntilMs(story);
  return [
    ...mountsAndStages(story, looked),
    ...(writes === undefined ? [] : logAndDevices(story, writes, looked)),
  ];
}

function mountsAndStages(story: Story, untilMs: number): string[] {
  const { observations, scenario, faultAtMs = 0 } = story;
  const mounts = spansOf(observations);
  // What was there before the fault may have come before the observers.
  const calls = observations.filter(({ t }) => t >= faultAtMs);
  // A shared directory has nothing to stage.
  const isShared = isDirectory(scenario.disk.mode);
  const asked = isShared ? csiCalls.nodePublish : csiCalls.stage;
  const stages = calls.filter(isGranted(asked));
  const unstages = calls.filter(isGranted(isShared ? csiCalls.nodeUnpublish : csiCalls.unstage));
  const unseen = stages.filter((stage) => {
    const atMs = callEndMs(stage);
    if (atMs + lookWithinMs >= untilMs) return false;
    const isBrief = unstages.some(
      ({ node, t }) => node === stage.node && t >= stage.t && t <= atMs + lookWithinMs,
    );
    const isSeen = mounts.some(
      ({ node, fromMs, toMs }) =>
        node === stage.node && fromMs <= atMs + lookWithinMs && toMs >= stage.t,
    );
    return !isBrief && !isSeen;
  });
  const unasked = mounts.filter(
    ({ node, fromMs }) =>
      fromMs >= faultAtMs &&
      fromMs < untilMs &&
      !stages.some((stage) => stage.node === node && stage.t <= fromMs + lookWithinMs) &&
      !mounts.some((earlier) => earlier.node === node && earlier.fromMs < faultAtMs),
  );
  return [
    ...unseen.map(
      (stage) =>
        `${asked} succeeded on ${stage.node} at ${toldInSeconds(callEndMs(stage))}, ` +
        'and no observer saw the volume mounted there',
    ),
    ...unasked.map(
      ({ node, fromMs }) =>
        `the volume was mounted on ${node} at ${toldInSeconds(fromMs)}, and the driver reports no ${asked}`,
    ),
  ];
}

type MountSpan = Pick<Access, 'node' | 'fromMs' | 'toMs'>;

/** Whatever a node had mounted, from when to when. */
const spansOf = (observations: readonly ObservationRecord[]): MountSpan[] =>
  observations
    .filter(({ name }) => name === observed.mounted)
    .map(({ node = '', t, data }) => {
      const end = observations.find(
        (later) =>
          later.name === observed.unmounted &&
          later.node === node &&
          later.t > t &&
          later.data.generation === data.generation,
      );
      return { node, fromMs: t, toMs: end?.t ?? Number.POSITIVE_INFINITY };
    });

interface Logged {
  readonly generation: number;
  /** Until the observers could not have seen it any more. */
  seeableBytes: number;
  allBytes: number;
}

/** The log knows each byte that a path wrote, the devices' counters how many there were. */
function logAndDevices(story: Story, writes: WriteLog, untilMs: number): string[] {
  const seen = countersOf(story.observations);
  const logged = new Map<number, Logged>();
  for (let index = 0; index < writes.length; index += 1) {
    const { op, generation, length } = writes.at(index);
    if (op !== writeOps.write) continue;
    let path = logged.get(generation);
    if (path === undefined) {
      path = { generation, seeableBytes: 0, allBytes: 0 };
      logged.set(generation, path);
    }
    path.allBytes += length;
    if (writes.atMs(index) < untilMs - lookWithinMs) path.seeableBytes += length;
  }
  const unseen = [...logged.values()]
    .filter((path) => path.seeableBytes > (seen.get(path.generation) ?? 0) + slackBytes)
    .map(
      ({ generation, seeableBytes }) =>
        `the log of writes has ${seeableBytes} bytes of generation ${generation}, ` +
        `and the devices’ observer saw ${seen.get(generation) ?? 0}`,
    );
  const unlogged = [...seen]
    .filter(([of, bytes]) => bytes > (logged.get(of)?.allBytes ?? 0) + slackBytes)
    .map(
      ([of, bytes]) =>
        `the devices’ observer saw ${bytes} bytes of generation ${of}, ` +
        `and the log of writes has ${logged.get(of)?.allBytes ?? 0}`,
    );
  return [...unseen, ...unlogged];
}

/** Bytes by generation. A path that is opened again counts from nothing. */
function countersOf(observations: readonly ObservationRecord[]): ReadonlyMap<number, number> {
  const last = new Map<number, number>();
  const sums = new Map<number, number>();
  for (const { name, data } of observations) {
    if (name !== observed.deviceWritten && name !== observed.deviceCut) continue;
    const generation = Number(data.generation);
    const bytes = data.bytesWritten ?? 0;
    const before = last.get(generation) ?? 0;
    sums.set(generation, (sums.get(generation) ?? 0) + (bytes < before ? bytes : bytes - before));
    last.set(generation, bytes);
  }
  return sums;
}

/** The observer looks ten times a second, and late on a busy machine. */
const cutSeenWithinMs = 15_000;

/** `writes`: a log without gaps. */
export const cutsNotSeen = (story: Story, writes: WriteLog | undefined): string[] =>
  story.tells.allSources ? cutsMissed(story, writes) : [];

/** The same of any history. */
export function cutsMissed(story: Story, writes: WriteLog | undefined): string[] {
  const { observations } = story;
  const seen = observations.filter(({ name }) => name === observed.deviceCut);
  const strange = nodesOfOne(story);
  if (writes === undefined) return strange;
  const untilMs = lookedUntilMs(story) - cutSeenWithinMs;
  const logged = cutsIn(writes);
  const unseen = [...logged].filter(
    ([of, atMs]) => atMs < untilMs && !seen.some(({ data }) => data.generation === of),
  );
  const unlogged = seen.filter(({ data }) => !logged.has(Number(data.generation)));
  return [
    ...strange,
    ...unseen.map(
      ([of, atMs]) =>
        `the log of writes has generation ${of} cut at ${toldInSeconds(atMs)}, ` +
        'and the devices’ observer saw no cut of it',
    ),
    ...unlogged.map(
      ({ data, t }) =>
        `the devices’ observer saw generation ${String(data.generation)} cut at ` +
        `${toldInSeconds(t)}, and the log of writes has no cut of it`,
    ),
  ];
}

/** When each path was cut first, by generation. */
function cutsIn(writes: WriteLog): ReadonlyMap<number, number> {
  const cuts = new Map<number, number>();
  for (let index = 0; index < writes.length; index += 1) {
    const { op, generation } = writes.at(index);
    const isCut = op === writeOps.cut || op === writeOps.powerLost;
    if (isCut && !cuts.has(generation)) cuts.set(generation, writes.atMs(index));
  }
  return cuts;
}

/** A path is one node's: two that are told to have it are a contradiction. */
function nodesOfOne({ observations }: Story): string[] {
  const nodes = new Map<number, Set<string>>();
  for (const { source, name, node, data } of observations) {
    if (source !== 'devices' || node === undefined || data.generation === undefined) continue;
    if (name !== observed.deviceWritten && name !== observed.deviceCut) continue;
    const generation = data.generation;
    nodes.set(generation, (nodes.get(generation) ?? new Set()).add(node));
  }
  return [...nodes]
    .filter(([, found]) => found.size > 1)
    .map(
      ([of, found]) =>
        `the path of generation ${of} is recorded as of ${[...found].join(' and of ')}`,
    );
}

// Did the machine keep time, and how busy was it? A run that starved for processor time says nothing of
// times.

/** How the reason begins that says the run starved for processor time. */
export const starvedReason = 'the machine did not keep time';

/** Tells by a verdict's reasons whether its machine kept no time, so that its times are no measurement. */
export const isStarved = (reasons: readonly string[]): boolean =>
  reasons.some((reason) => reason.startsWith(starvedReason));

/** A timer that fires later than this says the machine did not keep time. */
const timerLagLimitMs = 2000;

type TimedStory = Pick<Story, 'records' | 'faultAtMs' | 'secondImageAtMs'>;

/** From the fault to the second image: nothing before or after depends on the time it takes. */
export function machineRecordsOf(span: TimedStory): MachineRecord[] {
  const { records, faultAtMs = 0, secondImageAtMs } = span;
  const untilMs = secondImageAtMs ?? Number.POSITIVE_INFINITY;
  return records
    .filter((record) => record.type === 'machine')
    .filter(({ t }) => t >= faultAtMs && t < untilMs);
}

/** How late each timer of a second fired, milliseconds, from the fault to the second image. */
export const timerLagsOf = (span: TimedStory): number[] =>
  machineRecordsOf(span).map((each) => each.timerLagMs);

export function lateTimers(story: Story): string[] {
  const worstMs = Math.max(0, ...timerLagsOf(story));
  return worstMs > timerLagLimitMs
    ? [`${starvedReason}: a timer fired ${Math.round(worstMs)} ms late`]
    : [];
}

/** How busy the machine was under a fault: a race's outcome depends on it. */
const spread = z.object({ mean: z.number(), worst: z.number() }).nullable();

/** From the fault to the second image; null where the history does not tell. */
export const pressureSchema = z.object({
  /** PSI avg10 of `some`, percent of the time in which a task waited for it. */
  cpu: spread,
  io: spread,
  memory: spread,
  /** Load average of one minute. */
  load: spread,
  /** How late a timer of a second fired, milliseconds. */
  timerLagMs: spread,
});
export type Pressure = Readonly<z.output<typeof pressureSchema>>;

export function pressureOf(
  story: Pick<Story, 'records' | 'faultAtMs' | 'secondImageAtMs'>,
): Pressure {
  const records = machineRecordsOf(story);
  const of = (figure: keyof MachineRecord): Pressure['cpu'] =>
    spreadOf(records.flatMap((record) => record[figure] ?? []).map(Number));
  return {
    cpu: of('cpuPressure'),
    io: of('ioPressure'),
    memory: of('memoryPressure'),
    load: of('load'),
    timerLagMs: of('timerLagMs'),
  };
}

function spreadOf(values: readonly number[]): Pressure['cpu'] {
  if (values.length === 0) return null;
  return { mean: round(meanOf(values)), worst: round(Math.max(...values)) };
}

const round = (value: number): number => Math.round(value * 100) / 100;
