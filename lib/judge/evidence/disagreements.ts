/**
 * What different observers say of one thing, compared: NodeStage and the mounts, the disk's log of
 * writes and the devices. One that was blind is found by what another saw.
 */
import { isDirectory } from '../../scenario/index.ts';
import { toldInSeconds } from '../../core/index.ts';
import {
  type ObservationRecord,
  csiCalls,
  isGranted,
  observed,
  writeOps,
  type WriteLog,
} from '../../history/index.ts';
import { callEndMs, type Access } from '../timeline/access.ts';
import { lookedUntilMs, type Story } from '../timeline/story.ts';

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
    // The model does not count at a cut: its sums are then unknown.
    const bytes = data.bytesWritten ?? Number.NaN;
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
