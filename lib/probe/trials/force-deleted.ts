/**
 * What became of pods that were deleted by force while they wrote, on a node that is well: how long they wrote
 * on, and whether beside the next pod. Pure. A kubelet ends them and lets go of the volume before it is
 * detached, so it tells of Kubernetes; no mode follows from it.
 */
import { toldInSeconds } from '../../durations.ts';
import { answeredMs, type Journal, type Write } from './journal.ts';
import { figure, tally, type Figure } from './measured.ts';
import { nextOf, type NextFinding } from './next-pod.ts';
import { isIn, settled } from './on-disk.ts';
import type { TrialRecord } from './record.ts';
import { silentMs, steadyMs, steadyWrites } from './steady.ts';

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

export interface ForceDeleted {
  readonly counts: Readonly<Partial<Record<ForcedOutcome, number>>>;
  readonly next: Readonly<Partial<Record<NextFinding['was'], number>>>;
  readonly figures: readonly Figure[];
  /** A sentence each. */
  readonly notes: readonly string[];
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
  const [outcome, why] = judge(record, facts);
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

interface Facts {
  /** On the probe's clock. */
  readonly writes: readonly Write[];
  readonly acks: readonly Write[];
  readonly next: NextFinding;
  readonly overlapAcks: number;
  readonly overlapSlots: number;
}

function factsOf(record: TrialRecord): Facts {
  const { clockOffsetMs = 0, clockErrorMs = 0, nextClockOffsetMs = 0, nextJournal } = record;
  const writes = record.writerJournal.writes.map((write) => ({
    ...write,
    begunMs: write.begunMs + clockOffsetMs,
  }));
  const acks = writes.filter(({ error }) => error === undefined);
  const first = nextJournal.writes.find(({ error }) => error === undefined);
  const fromMs = first === undefined ? Infinity : answeredMs(first) + nextClockOffsetMs;
  return {
    ...{ writes, acks, next: nextOf(record) },
    overlapAcks: acks.filter(({ begunMs }) => begunMs > fromMs + clockErrorMs).length,
    overlapSlots: slotsLater(record),
  };
}

/** Found by the last scan in places that the first one, made before the next pod wrote, had found empty. */
function slotsLater({ nextJournal }: TrialRecord): number {
  const { scans } = nextJournal;
  const [first] = scans;
  const last = scans.at(-1);
  // After a read that failed the first one is not of the whole.
  if (first === undefined || last === undefined || wasBlind(nextJournal)) return 0;
  return seqsOf(last.ranges).filter((seq) => !isIn(first.ranges, seq)).length;
}

const wasBlind = ({ scans: [first], blind }: Journal): boolean =>
  first !== undefined && blind.some(({ atMs }) => atMs < first.atMs);

const seqsOf = (ranges: readonly (readonly [number, number])[]): number[] =>
  ranges.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, index) => from + index));

type Judged = readonly [ForcedOutcome, string];
const undecided = (why: string): Judged => ['undecided', why];

/** What was seen of two writers stands, whatever else is missing. */
function judge(record: TrialRecord, facts: Facts): Judged {
  const { overlapAcks, overlapSlots, acks } = facts;
  if (overlapAcks + overlapSlots > 0) {
    return [
      'overlapped',
      `both pods had the volume and wrote: ${overlapAcks} writes of the first one were acknowledged after the next one’s first, ${overlapSlots} came to the disk after the next one had read it`,
    ];
  }
  const { deleteAskedMs, deleteAnsweredMs, watchEndedMs, writerJournal: journal } = record;
  if (record.ended !== undefined) return undecided(record.ended);
  if (deleteAskedMs === undefined || deleteAnsweredMs === undefined || watchEndedMs === undefined) {
    return undecided('the pod was not deleted');
  }
  if (record.writer?.goneMs === undefined) {
    return undecided('the API had the pod to the end of the watch');
  }
  if (journal.failed !== undefined) return undecided(`the writer failed: ${journal.failed}`);
  if (journal.gaps > 0) return undecided(`${journal.gaps} lines of the writer are missing`);
  if (record.clockErrorMs === undefined) {
    return undecided("the clock of the writer's node is not known");
  }
  const before = acks.filter((write) => answeredMs(write) < deleteAskedMs);
  const lastBefore = before.at(-1);
  if (lastBefore === undefined || before.length < steadyWrites) {
    return undecided(`only ${before.length} writes were acknowledged before the delete`);
  }
  if (deleteAskedMs - answeredMs(lastBefore) > steadyMs) {
    return undecided('the writer was silent when its pod was deleted');
  }
  return judgeEnd(record, facts, { deleteAskedMs, watchEndedMs });
}

function judgeEnd(
  record: TrialRecord,
  { writes, next }: Facts,
  { deleteAskedMs, watchEndedMs }: { deleteAskedMs: number; watchEndedMs: number },
): Judged {
  const lastMs = Math.max(...writes.map(answeredMs));
  const last = toldInSeconds(Math.max(0, lastMs - deleteAskedMs));
  if (next.was !== 'in') {
    const said = next.said === undefined ? '' : `: ${next.said}`;
    const isHeard = watchEndedMs - lastMs <= silentMs;
    return isHeard
      ? ['wrote-on', `it wrote to the end of the watch; the next pod was ${next.was}${said}`]
      : ['next-out', `last heard of ${last} after the delete; the next pod was ${next.was}${said}`];
  }
  const { scans, blind } = record.nextJournal;
  const [first, second] = scans;
  if (first === undefined || second === undefined) {
    return undecided(`the next pod has read the disk ${scans.length} times: two tell`);
  }
  if (wasBlind(record.nextJournal)) {
    return undecided(`the next pod could not read the disk at first: ${blind[0]?.error}`);
  }
  const inMs = Math.max(0, (next.inMs ?? 0) - lastMs);
  return [
    'ended-first',
    `last heard of ${last} after the delete, ${toldInSeconds(inMs)} before the next pod ran`,
  ];
}

type Numbers = Omit<
  ForcedFinding,
  'name' | 'outcome' | 'why' | 'next' | 'told' | 'overlapAcks' | 'overlapSlots'
>;

function numbersOf(record: TrialRecord, { writes, acks }: Facts): Numbers {
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
          lostAcks: settled(record, acks).filter(({ seq }) => !isIn(onDisk.ranges, seq)).length,
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
