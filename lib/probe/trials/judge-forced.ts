/**
 * What became of one pod that was deleted by force while it wrote: what was seen of two writers stands,
 * whatever else is missing; else where the records don't tell, the outcome is `undecided` with the reason.
 */
import { toldInSeconds } from '../../durations.ts';
import { answeredMs } from './journal.ts';
import { wasBlind } from './on-disk.ts';
import type { TrialRecord } from './record.ts';
import { heardBefore, silentMs, steadyMs, steadyWrites, unreadable } from './steady.ts';
import type { PodsHeard } from './next-pod.ts';

export type ForcedOutcome =
  /** Its last write came before the next pod had the volume. */
  | 'ended-first'
  /** It wrote on once the next pod had the volume. */
  | 'overlapped'
  /** It was not heard of any more, and the next pod never had the volume. */
  | 'next-out'
  /** It wrote to the end of the watch, and the next pod never had the volume. */
  | 'wrote-on'
  | 'undecided';

export interface ForcedFacts extends PodsHeard {
  readonly overlapAcks: number;
  readonly overlapSlots: number;
}

type JudgedForced = readonly [ForcedOutcome, string];
const undecided = (why: string): JudgedForced => ['undecided', why];

export function judgeForced(record: TrialRecord, facts: ForcedFacts): JudgedForced {
  const { overlapAcks, overlapSlots, acks } = facts;
  if (overlapAcks + overlapSlots > 0) {
    return [
      'overlapped',
      `both pods had the volume and wrote: ${overlapAcks} writes of the first one were acknowledged after the next one’s first, ${overlapSlots} came to the disk after the next one had read it`,
    ];
  }
  const { deleteAskedMs, deleteAnsweredMs, watchEndedMs } = record;
  if (record.ended !== undefined) return undecided(record.ended);
  if (deleteAskedMs === undefined || deleteAnsweredMs === undefined || watchEndedMs === undefined) {
    return undecided('the pod was not deleted');
  }
  if (record.writer?.goneMs === undefined) {
    return undecided('the API had the pod to the end of the watch');
  }
  const why = unreadable(record);
  if (why !== undefined) return undecided(why);
  const before = heardBefore(acks, deleteAskedMs);
  if (before.writes < steadyWrites) {
    return undecided(`only ${before.writes} writes were acknowledged before the delete`);
  }
  if (before.silentForMs > steadyMs) {
    return undecided('the writer was silent when its pod was deleted');
  }
  return judgeEnd(record, facts, { deleteAskedMs, watchEndedMs });
}

function judgeEnd(
  record: TrialRecord,
  { writes, next }: ForcedFacts,
  { deleteAskedMs, watchEndedMs }: { deleteAskedMs: number; watchEndedMs: number },
): JudgedForced {
  const lastMs = Math.max(...writes.map(answeredMs));
  const last = toldInSeconds(Math.max(0, lastMs - deleteAskedMs));
  if (next.was !== 'in') {
    const said = next.said === undefined ? '' : `: ${next.said}`;
    const isHeard = watchEndedMs - lastMs <= silentMs;
    return isHeard
      ? ['wrote-on', `it wrote to the end of the watch; the next pod was ${next.was}${said}`]
      : ['next-out', `last heard of ${last} after the delete; the next pod was ${next.was}${said}`];
  }
  const { scans, blind, gaps } = record.nextJournal;
  const [first, second] = scans;
  if (first === undefined || second === undefined) {
    return undecided(`the next pod has read the disk ${scans.length} times: two tell`);
  }
  if (gaps > 0) return undecided(`${gaps} lines of the next pod are missing`);
  if (wasBlind(record.nextJournal)) {
    return undecided(`the next pod could not read the disk at first: ${blind[0]?.error}`);
  }
  const inMs = Math.max(0, (next.inMs ?? 0) - lastMs);
  return [
    'ended-first',
    `last heard of ${last} after the delete, ${toldInSeconds(inMs)} before the next pod ran`,
  ];
}
