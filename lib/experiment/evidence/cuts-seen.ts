/** Cuts of paths, as the disk's own log has them and as its observer saw them: each is the other's. */
import { toldInSeconds } from '../../durations.ts';
import { observed } from '../../history/observations.ts';
import { writeOps, type WriteLog } from '../../history/writes.ts';
import { lookedUntilMs, type Story } from '../../timeline/story.ts';

/** The observer looks ten times a second, and late on a busy machine. */
const lookWithinMs = 15_000;

/** `writes`: a log without gaps. */
export function cutsNotSeen(story: Story, writes: WriteLog | undefined): string[] {
  return story.tells.allSources ? cutsMissed(story, writes) : [];
}

/** The same of any history. */
export function cutsMissed(story: Story, writes: WriteLog | undefined): string[] {
  const { observations } = story;
  const seen = observations.filter(({ name }) => name === observed.deviceCut);
  const strange = nodesOfOne(story);
  if (writes === undefined) return strange;
  const untilMs = lookedUntilMs(story) - lookWithinMs;
  const logged = cutsIn(writes);
  const unseen = [...logged].filter(
    ([of, atMs]) => atMs < untilMs && !seen.some(({ data }) => data['generation'] === of),
  );
  const unlogged = seen.filter(({ data }) => !logged.has(Number(data['generation'])));
  return [
    ...strange,
    ...unseen.map(
      ([of, atMs]) =>
        `the log of writes has generation ${of} cut at ${toldInSeconds(atMs)}, ` +
        'and the devices’ observer saw no cut of it',
    ),
    ...unlogged.map(
      ({ data, t }) =>
        `the devices’ observer saw generation ${String(data['generation'])} cut at ` +
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
    if (source !== 'devices' || node === undefined || data['generation'] === undefined) continue;
    if (name !== observed.deviceWritten && name !== observed.deviceCut) continue;
    const generation = Number(data['generation']);
    nodes.set(generation, (nodes.get(generation) ?? new Set()).add(node));
  }
  return [...nodes]
    .filter(([, found]) => found.size > 1)
    .map(
      ([of, found]) =>
        `the path of generation ${of} is told to be of ${[...found].join(' and of ')}`,
    );
}
