/** A finished run as the claims read it: its story, its verdict, and who acknowledged when. */
import { toldInSeconds } from '../../lib/core/index.ts';
import {
  assembleVerdict,
  type Verdict,
  milestones,
  type MilestoneName,
  rolesIn,
  tellStory,
  type Story,
} from '../../lib/judge/index.ts';
import {
  type NoteRecord,
  type ObservationRecord,
  csiCalls,
  isGranted,
  observed,
  type ObservedName,
  openHistory,
  type History,
  sessionKey,
} from '../../lib/history/index.ts';
import { mysql } from '../../lib/mysql/index.ts';

export interface RecordedRun {
  readonly story: Story;
  readonly verdict: Verdict;
  /** When the fault began, ms on the run's clock. */
  readonly faultAtMs: number;
  readonly victimNode: string;
  /** When the victim acknowledged, ms on the run's clock, in order. */
  readonly victimAcksMs: readonly number[];
}

/** Undefined where the run ended before its fault. Throws EvidenceError without a history. */
export function readFinishedRun(folder: string): RecordedRun | undefined {
  const history = openHistory(folder);
  const story = tellStory([...history.smallRecords()], mysql);
  const { faultAtMs, victimNode } = story;
  if (faultAtMs === undefined || victimNode === undefined) return undefined;
  const verdict = assembleVerdict(history, { database: mysql });
  return { story, verdict, faultAtMs, victimNode, victimAcksMs: acksOf(history, victimNode) };
}

function acksOf(history: History, node: string): number[] {
  const sessions = new Set<string>();
  const acks: number[] = [];
  for (const record of history.records()) {
    if (record.type !== 'session' && record.type !== 'outcome') continue;
    const key = sessionKey(record);
    if (record.type === 'session') {
      if (record.server?.node === node) sessions.add(key);
    } else if (record.outcome === 'ok' && sessions.has(key)) acks.push(record.t);
  }
  return acks;
}

type Fits = (seen: ObservationRecord) => boolean;

/** Every observation of that name that fits, over the whole run. */
export const allSeen = (
  { story }: Pick<RecordedRun, 'story'>,
  name: ObservedName,
  fits: Fits = () => true,
): ObservationRecord[] => story.observations.filter((seen) => seen.name === name && fits(seen));

/** Those from the fault until the heal. */
export const seenUnderFault = (
  run: RecordedRun,
  name: ObservedName,
  fits: Fits = () => true,
): ObservationRecord[] => allSeen(run, name, (seen) => fits(seen) && underFault(run, seen.t));

/** What the victim acknowledged after that moment (ms on the run's clock) and before the heal. */
export const victimAcksAfter = (run: RecordedRun, afterMs: number): number[] =>
  run.victimAcksMs.filter((t) => t > afterMs && underFault(run, t));

export const underFault = ({ faultAtMs, story }: RecordedRun, atMs: number): boolean =>
  atMs >= faultAtMs && atMs < story.healAtMs;

/** The first one from the fault on. */
export const firstSeen = (
  run: RecordedRun,
  name: ObservedName,
  fits: Fits = () => true,
): ObservationRecord | undefined => allSeen(run, name, fits).find(({ t }) => t >= run.faultAtMs);

/** Every record of a milestone, over the whole run; whoever is not the victim counts as successor. */
export function allOf({ story }: RecordedRun, name: MilestoneName): ObservationRecord[] {
  const roles = rolesIn(story);
  return story.observations.filter((seen) => milestones[name].is(seen, roles));
}

/** The first one from the fault on. */
export const firstOf = (run: RecordedRun, name: MilestoneName): ObservationRecord | undefined =>
  allOf(run, name).find(({ t }) => t >= run.faultAtMs);

export const onVictim =
  ({ victimNode }: RecordedRun): Fits =>
  ({ node }) =>
    node === victimNode;

/** Tells of the pod that ran on the victim when the fault came. */
export const ofVictimPod =
  ({ story }: RecordedRun): Fits =>
  ({ data }) =>
    data.uid === story.victimUid;

/** The runner's watch reports a change of an object later than a controller or a kubelet sees it. */
export const watchLateMs = 1000;

/** Calls to the driver of that kind which it answered well. */
export const callsOf = (
  run: Pick<RecordedRun, 'story'>,
  call: keyof typeof csiCalls,
): ObservationRecord[] => allSeen(run, observed.csiCall, isGranted(csiCalls[call]));

/** When a call was answered. */
export const endMsOf = ({ t, data }: ObservationRecord): number => t + Number(data.durationMs);

/** Seconds after the fault, one digit: `+345.6 s`. */
export const since = ({ faultAtMs }: RecordedRun, atMs: number): string =>
  `${atMs < faultAtMs ? '−' : '+'}${toldInSeconds(Math.abs(atMs - faultAtMs))}`;

/** Records as lines of evidence, their times in seconds after the fault. */
export const recordLines = (
  run: RecordedRun,
  records: readonly (ObservationRecord | undefined)[],
): string[] =>
  records
    .filter((record) => record !== undefined)
    .toSorted((a, b) => a.t - b.t)
    .map((record) => evidenceLine(since(run, record.t), record));

const lengthLimit = 260;

export function evidenceLine(
  at: string,
  { source, name, node, data }: ObservationRecord | NoteRecord,
): string {
  const what = [at, source, name, ...(node === undefined ? [] : [node]), JSON.stringify(data)];
  const line = what.join(' ');
  return line.length > lengthLimit ? `${line.slice(0, lengthLimit)} …` : line;
}
