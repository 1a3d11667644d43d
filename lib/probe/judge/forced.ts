/**
 * What became of pods that were deleted by force while they wrote, on a node that is well: how long they wrote
 * on, and whether beside the next pod. Pure. A kubelet ends them and lets go of the volume before it is
 * detached, so it tells of Kubernetes; no mode follows from it.
 */
import { toldInSeconds } from '../../core/index.ts';
import { because } from '../../judge/index.ts';
import { type Planned, contradictionsIn } from './facts.ts';
import {
  type Heard,
  type Judged,
  type Times,
  answeredMs,
  decided,
  figuresOf,
  heardOf,
  lostAcksOf,
  seqsOf,
  silentMs,
  tally,
  unreadable,
  wasBlind,
  wasSilent,
} from './heard.ts';
import type { TrialRecord } from './record.ts';

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

/** Milliseconds are since the delete was requested: the API has no pod from some moment of its answer on. */
export type ForcedFinding = ReturnType<typeof classifyForced>;
export type ForceDeleted = ReturnType<typeof measureForced>;

export function measureForced(records: readonly TrialRecord[], plan: Planned) {
  const findings = records.map((record) => classifyForced(record, plan));
  const worth = findings.filter(({ outcome, lostAcks = 0 }) => {
    return outcome !== 'ended-first' || lostAcks > 0;
  });
  return {
    counts: tally(findings.map(({ outcome }) => outcome)),
    next: tally(findings.map(({ next }) => next.was)),
    figures: figuresOf(
      findings.filter(({ outcome }) => outcome !== 'undecided'),
      times,
    ),
    notes: worth.map(({ name, outcome, why, lostAcks = 0 }) => {
      const lost =
        lostAcks === 0 ? '' : `; ${lostAcks} acknowledged writes were not found on the disk`;
      return `${name}: ${outcome}: ${why}${lost}`;
    }),
    findings,
  };
}

const times: Times<ForcedFinding> = {
  'delete by force to SIGTERM': ({ termMs }) => termMs,
  'delete by force to the last write of its writer': ({ lastAckMs, lastOnDiskMs }) =>
    lastAckMs === undefined && lastOnDiskMs === undefined
      ? undefined
      : Math.max(lastAckMs ?? 0, lastOnDiskMs ?? 0),
  'delete by force to the end of the attachment': ({ detachedMs }) => detachedMs,
  'delete by force to the next node attached': ({ nextAttachedMs }) => nextAttachedMs,
  'delete by force to the next pod running': ({ next }) => next.afterMs,
};

export function classifyForced(record: TrialRecord, plan: Planned) {
  const heard = heardOf(record);
  const judged = decided(judge(record, heard), contradictionsIn(record, plan).ofRecords);
  const told = record.events.find(({ pod, reason }) => {
    return pod.endsWith('-b') && reason === 'FailedAttachVolume';
  });
  return {
    ...{ name: record.name, ...judged, ...numbersOf(record, heard), next: heard.next },
    /** The event that the next pod had while it waited. */
    told: told?.message,
    /** Acknowledged writes that were begun after the next pod's first, by the clocks of both. */
    overlapAcks: heard.besideAcks.length,
    /** Writes that came to the disk after the next pod had read their place: no clock has a part in it. */
    overlapSlots: heard.besideSlots.length,
  };
}

function numbersOf(record: TrialRecord, { writes, acks }: Heard) {
  const { deleteAskedMs: zeroMs, deleteAnsweredMs: apiMs, clockOffsetMs = 0 } = record;
  if (zeroMs === undefined || apiMs === undefined) return undefined;
  const since = (atMs: number | undefined, offsetMs = 0): number | undefined =>
    atMs === undefined ? undefined : Math.max(0, Math.round(atMs + offsetMs - zeroMs));
  const lastAck = acks.at(-1);
  const onDisk = record.nextJournal.scans.at(-1);
  const after = writes.filter(({ begunMs }) => begunMs > apiMs);
  const firstAfter = after[0]?.seq ?? (writes.at(-1)?.seq ?? -1) + 1;
  return {
    /** Its kubelet told it to end. */
    termMs: since(record.writerJournal.termMs, clockOffsetMs),
    /** The last write that was acknowledged, by its journal, and the last that the next pod found on the disk. */
    lastAckMs: since(lastAck && answeredMs(lastAck)),
    lastOnDiskMs: since(onDisk?.youngestMs, clockOffsetMs),
    /** Writes that were begun once the API had answered, acknowledged or found on the disk. */
    ackedAfter: after.filter(({ error }) => error === undefined).length,
    reachedAfter: onDisk && seqsOf(onDisk.ranges).filter((seq) => seq >= firstAfter).length,
    lostAcks: lostAcksOf(record, acks),
    error: after.find(({ error }) => error !== undefined)?.error,
    /** Kubernetes asked for the end of the attachment, and it ended. */
    detachAskedMs: since(record.attachments[0]?.deletingMs),
    detachedMs: since(record.goneMs),
    nextAttachedMs: since(record.nextAttachment?.attachedMs),
  };
}

/** Two writers stand, whatever else is missing. */
function judge(record: TrialRecord, heard: Heard): Judged<ForcedOutcome> {
  const { acks, besideAcks, besideSlots } = heard;
  if (besideAcks.length + besideSlots.length > 0) {
    return [
      'overlapped',
      `both pods had the volume and wrote: ${besideAcks.length} writes of the first one were acknowledged after the next one’s first, ${besideSlots.length} came to the disk after the next one had read it`,
    ];
  }
  const { deleteAskedMs, deleteAnsweredMs, watchEndedMs } = record;
  if (record.ended !== undefined) return because('STEP_FAILED', record.ended);
  if (deleteAskedMs === undefined || deleteAnsweredMs === undefined || watchEndedMs === undefined) {
    return because('NOT_DELETED', 'the pod was not deleted');
  }
  if (record.writer?.goneMs === undefined) {
    return because('NOT_DELETED', 'the API had the pod to the end of the watch');
  }
  const why = unreadable(record, acks, deleteAskedMs, 'delete');
  if (why !== undefined) return why;
  if (wasSilent(acks, deleteAskedMs)) {
    return because('WRITER_SILENT', 'the writer was silent when its pod was deleted');
  }
  return judgeEnd(record, heard, { deleteAskedMs, watchEndedMs });
}

function judgeEnd(
  { nextJournal }: TrialRecord,
  { writes, next }: Heard,
  { deleteAskedMs, watchEndedMs }: { deleteAskedMs: number; watchEndedMs: number },
): Judged<ForcedOutcome> {
  const lastMs = Math.max(...writes.map(answeredMs));
  const last = toldInSeconds(Math.max(0, lastMs - deleteAskedMs));
  if (next.was !== 'in') {
    const said = next.said === undefined ? '' : `: ${next.said}`;
    return watchEndedMs - lastMs <= silentMs
      ? ['wrote-on', `it wrote to the end of the watch; the next pod was ${next.was}${said}`]
      : ['next-out', `last heard of ${last} after the delete; the next pod was ${next.was}${said}`];
  }
  const { scans, blind, gaps } = nextJournal;
  if (scans.length < 2) {
    return because('FEW_READS', `the next pod has read the disk ${scans.length} times: two tell`);
  }
  if (gaps > 0)
    return because('LINES_MISSING', `${gaps} lines of the next pod are missing`, { gaps });
  if (wasBlind(nextJournal)) {
    const words = `the next pod could not read the disk at first: ${blind[0]?.error}`;
    return because('NEXT_BLIND', words);
  }
  const inMs = toldInSeconds(Math.max(0, (next.inMs ?? 0) - lastMs));
  return ['ended-first', `last heard of ${last} after the delete, ${inMs} before the next pod ran`];
}
