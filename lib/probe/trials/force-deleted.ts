/**
 * What became of pods that were deleted by force while they wrote, on a node that is well: how long they wrote
 * on, and whether beside the next pod. Pure. A kubelet ends them and lets go of the volume before it is
 * detached, so it tells of Kubernetes; no mode follows from it.
 */
import { answeredMs, writesBy } from './journal.ts';
import { judgeForced, type ForcedFacts, type ForcedOutcome } from './judge-forced.ts';
import { figure, tally, type Figure, type MeasuredClass } from './measured.ts';
import { nextOf, nextWroteMs, type NextFinding } from './next-pod.ts';
import { isInRanges, seqsOf, settled, slotsLater } from './on-disk.ts';
import type { TrialRecord } from './record.ts';

/** Milliseconds are since the delete was asked for: the API has no pod from some moment of its answer on. */
export interface ForcedFinding {
  readonly name: string;
  readonly outcome: ForcedOutcome;
  /** One sentence. */
  readonly why: string;
  /** Its kubelet told it to end. */
  readonly termMs?: number;
  /** The last write that was acknowledged, by its journal, and the last that the next pod found on the disk. */
  readonly lastAckMs?: number;
  readonly lastOnDiskMs?: number;
  /** Writes that were begun once the API had answered, acknowledged or found on the disk. */
  readonly ackedAfter?: number;
  readonly reachedAfter?: number;
  /** Acknowledged, and not on the disk when the next pod read it. */
  readonly lostAcks?: number;
  /** What its writer was told, where a write failed. */
  readonly error?: string;
  /** Kubernetes asked for the end of the attachment, and it ended. */
  readonly detachAskedMs?: number;
  readonly detachedMs?: number;
  readonly nextAttachedMs?: number;
  readonly next: NextFinding;
  /** What the next pod was told while it waited. */
  readonly told?: string;
  /** Acknowledged writes that were begun after the next pod's first, by the clocks of both. */
  readonly overlapAcks: number;
  /** Writes that came to the disk after the next pod had read their place: no clock has a part in it. */
  readonly overlapSlots: number;
}

export interface ForceDeleted extends Pick<MeasuredClass, 'next' | 'figures' | 'notes'> {
  readonly counts: Readonly<Partial<Record<ForcedOutcome, number>>>;
  readonly findings: readonly ForcedFinding[];
}

export function measureForced(records: readonly TrialRecord[]): ForceDeleted {
  const findings = records.map(classifyForced);
  const worth = findings.filter(({ outcome, lostAcks = 0 }) => {
    return outcome !== 'ended-first' || lostAcks > 0;
  });
  return {
    counts: tally(findings.map(({ outcome }) => outcome)),
    next: tally(findings.map(({ next }) => next.was)),
    figures: figuresOf(findings.filter(({ outcome }) => outcome !== 'undecided')),
    notes: worth.map(({ name, outcome, why, lostAcks = 0 }) => {
      const lost =
        lostAcks === 0 ? '' : `; ${lostAcks} acknowledged writes were not found on the disk`;
      return `${name}: ${outcome}: ${why}${lost}`;
    }),
    findings,
  };
}

export function classifyForced(record: TrialRecord): ForcedFinding {
  const facts = factsOf(record);
  const [outcome, why] = judgeForced(record, facts);
  const { next, overlapAcks, overlapSlots } = facts;
  const told = record.events.find(({ pod, reason }) => {
    return pod.endsWith('-b') && reason === 'FailedAttachVolume';
  })?.message;
  return {
    ...{ name: record.name, outcome, why, ...numbersOf(record, facts), next },
    ...(told === undefined ? {} : { told }),
    ...{ overlapAcks, overlapSlots },
  };
}

function factsOf(record: TrialRecord): ForcedFacts {
  const { clockOffsetMs, clockErrorMs = 0 } = record;
  const writes = writesBy(record.writerJournal, clockOffsetMs);
  const acks = writes.filter(({ error }) => error === undefined);
  const fromMs = nextWroteMs(record);
  return {
    ...{ writes, acks, next: nextOf(record) },
    overlapAcks: acks.filter(({ begunMs }) => begunMs > fromMs + clockErrorMs).length,
    overlapSlots: slotsLater(record).length,
  };
}

type Numbers = Omit<
  ForcedFinding,
  'name' | 'outcome' | 'why' | 'next' | 'told' | 'overlapAcks' | 'overlapSlots'
>;

function numbersOf(record: TrialRecord, { writes, acks }: ForcedFacts): Numbers {
  const { deleteAskedMs: zeroMs, deleteAnsweredMs: answered, clockOffsetMs = 0 } = record;
  const { writerJournal, nextJournal } = record;
  if (zeroMs === undefined || answered === undefined) return {};
  const since = (name: keyof Numbers, atMs: number | undefined): Numbers =>
    atMs === undefined ? {} : { [name]: Math.max(0, Math.round(atMs - zeroMs)) };
  const ofNode = (atMs: number | undefined): number | undefined =>
    atMs === undefined ? undefined : atMs + clockOffsetMs;
  const lastAck = acks.at(-1);
  const error = writes.find(
    (write) => write.error !== undefined && write.begunMs > answered,
  )?.error;
  const onDisk = nextJournal.scans.at(-1);
  const firstAfter =
    writes.find(({ begunMs }) => begunMs > answered)?.seq ?? (writes.at(-1)?.seq ?? -1) + 1;
  const found = seqsOf(onDisk?.ranges ?? []);
  return {
    ...since('termMs', ofNode(writerJournal.termMs)),
    ...since('lastAckMs', lastAck === undefined ? undefined : answeredMs(lastAck)),
    ...since('lastOnDiskMs', ofNode(onDisk?.youngestMs)),
    ackedAfter: acks.filter(({ begunMs }) => begunMs > answered).length,
    ...(onDisk === undefined
      ? {}
      : {
          reachedAfter: found.filter((seq) => seq >= firstAfter).length,
          lostAcks: settled(record, acks).filter(({ seq }) => !isInRanges(onDisk.ranges, seq))
            .length,
        }),
    ...(error === undefined ? {} : { error }),
    ...since('detachAskedMs', record.attachments[0]?.deletingMs),
    ...since('detachedMs', record.goneMs),
    ...since('nextAttachedMs', record.nextAttachment?.attachedMs),
  };
}

/** The last of its writes that anybody knows of. */
const lastWriteMs = ({ lastAckMs, lastOnDiskMs }: ForcedFinding): number | undefined =>
  lastAckMs === undefined && lastOnDiskMs === undefined
    ? undefined
    : Math.max(lastAckMs ?? 0, lastOnDiskMs ?? 0);

function figuresOf(findings: readonly ForcedFinding[]): Figure[] {
  const of = (what: string, value: (finding: ForcedFinding) => number | undefined): Figure[] => {
    const values = findings.flatMap((finding) => value(finding) ?? []);
    return values.length === 0 ? [] : [figure(`delete by force to ${what}`, values)];
  };
  return [
    ...of('SIGTERM', ({ termMs }) => termMs),
    ...of('the last write of its writer', lastWriteMs),
    ...of('the end of the attachment', ({ detachedMs }) => detachedMs),
    ...of('the next node attached', ({ nextAttachedMs }) => nextAttachedMs),
    ...of('the next pod running', ({ next }) => next.afterMs),
  ];
}
