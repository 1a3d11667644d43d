/** Who was to watch from the fault to the second image, and when he did not. */
import { isDirectory } from '../../scenario/index.ts';
import { silencesIn, toldInSeconds } from '../../core/index.ts';
import {
  type ObservationRecord,
  type RunRecord,
  beatWithinMs,
  observed,
  type ObservedName,
} from '../../history/index.ts';
import { lookedUntilMs, type Story } from '../timeline/story.ts';

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
  const {
    fault: { kind: fault },
    also: { kind: also },
    disk: { mode: disk },
  } = scenario;
  // Where the API server answers nobody, nobody is told anything.
  const api = fault === 'api-outage' || also === 'api-outage' ? [] : ['api'];
  const disks = ['csi', 'mounts', ...(isDirectory(disk) ? [] : ['devices'])];
  if (run.schemaVersion < 3) return [...api, ...disks];
  // The model has no audit log. The servers' log is asked for where it is used (notices.ts).
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
