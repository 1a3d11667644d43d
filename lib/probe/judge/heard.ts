/**
 * What the records hold of a writer and of the pod on the next node: by the clocks of both, and by the slots
 * that the next pod found, in which no clock has a part. Pure.
 */
import { type Reason, because } from '../../judge/index.ts';
import type { PodJournal, TrialRecord, Write } from './record.ts';

/** A reason is why nothing can be told. */
export type Judged<Outcome> = readonly [Outcome, string] | Reason;

/** `against`: what else speaks against an outcome. */
export function decided<Outcome>(judged: Judged<Outcome>, against: readonly Reason[]) {
  const reasons = 'code' in judged ? [judged, ...against] : against;
  if (!('code' in judged) && against.length === 0) {
    return { outcome: judged[0], why: judged[1], reasons };
  }
  return { outcome: 'undecided' as const, why: inWords(reasons), reasons };
}

export const inWords = (reasons: readonly Reason[]): string =>
  reasons.map(({ words }) => words).join('; ');

/** What no known mode does. */
export const noMode = (words: string, fields: Reason['fields'] = {}): Reason =>
  because('NO_KNOWN_MODE', `no known mode does this: ${words}`, fields);

/** Whole milliseconds since then; of what did not happen undefined. */
export const sinceOf =
  (zeroMs: number) =>
  (atMs: number | undefined): number | undefined =>
    atMs === undefined ? undefined : Math.round(atMs - zeroMs);

/** The writes, begun by another clock, which is ahead of the pod's by so much. */
export const writesBy = ({ writes }: PodJournal, aheadMs = 0): Write[] =>
  writes.map((write) => ({ ...write, begunMs: write.begunMs + aheadMs }));

/** When a write was answered: with its error, too. */
export const answeredMs = ({ begunMs, tookMs }: Write): number => begunMs + tookMs;

export interface NextFinding {
  /**
   * `in`: its volume was mounted during the watch; `refused`: it was attached, and the driver did not
   * stage it; `not-attached`: the driver did not attach it; `barred`: Kubernetes did not ask the driver;
   * `waited`: nothing was said; `not-tried`.
   */
  readonly was: 'in' | 'refused' | 'not-attached' | 'barred' | 'waited' | 'not-tried';
  readonly said?: string;
  /** Unix milliseconds: its node was attached between these two. */
  readonly waitedMs?: number;
  readonly attachedMs?: number;
  /** Unix milliseconds: its program runs. */
  readonly inMs?: number;
  /** From the delete of the first one's attachment, or of the first one. */
  readonly afterMs?: number;
  /** Writes of the first pod that were acknowledged once this one's were. */
  readonly overlapAcks?: number;
}

/**
 * Events that hold the driver's words. Kubernetes' own has the same reason, and its text differs by
 * version (`Multi-Attach error …`; from 1.37 `Waiting for detach …`); nor does kubelet's patience count,
 * or what it does by itself to keep a raw device open (`MapBlockVolume`).
 */
const ofDriver =
  /^(AttachVolume\.Attach|Mount(Volume|Device)|MountVolume\.\w+|MapVolume\.(SetUpDevice|MapPodDevice)) failed/;
const attachFailed = 'FailedAttachVolume';
const barring = /already (used by|exclusively attached)/;

export function nextOf(record: TrialRecord): NextFinding {
  const { next, deleteAskedMs = 0, watchEndedMs = Infinity, nextJournal } = record;
  const isWatched = record.variant === 'contested' || record.variant === 'force-deleted';
  if (!isWatched || next === undefined) return { was: 'not-tried' };
  const { attachedMs, waitedMs = deleteAskedMs } = record.nextAttachment ?? {};
  const attached = attachedMs === undefined ? {} : { waitedMs, attachedMs };
  const { startedMs } = nextJournal;
  const inMs =
    startedMs === undefined ? next.runningMs : startedMs + (record.nextClockOffsetMs ?? 0);
  if (inMs !== undefined && inMs <= watchEndedMs) {
    const fromMs = nextWroteMs(record);
    const overlap = writesBy(record.writerJournal, record.clockOffsetMs).filter(
      ({ error, begunMs }) => error === undefined && begunMs > fromMs && begunMs <= watchEndedMs,
    );
    return {
      ...{ was: 'in', ...attached, inMs, afterMs: Math.round(inMs - deleteAskedMs) },
      overlapAcks: overlap.length,
    };
  }
  const about = record.events.filter(
    ({ pod, reason }) =>
      pod.endsWith('-b') && [attachFailed, 'FailedMount', 'FailedMapVolume'].includes(reason),
  );
  const refused = about.findLast(({ message }) => ofDriver.test(message));
  if (refused !== undefined) {
    const isOfAttach = refused.reason === attachFailed && attachedMs === undefined;
    return { was: isOfAttach ? 'not-attached' : 'refused', ...attached, said: refused.message };
  }
  const barred = about.findLast(({ message }) => barring.test(message));
  if (barred !== undefined) return { was: 'barred', ...attached, said: barred.message };
  return { was: 'waited', ...attached };
}

export function nextWroteMs({ nextJournal, nextClockOffsetMs = 0 }: TrialRecord): number {
  const first = nextJournal.writes.find(({ error }) => error === undefined);
  return first === undefined ? Infinity : answeredMs(first) + nextClockOffsetMs;
}

export type Heard = ReturnType<typeof heardOf>;

/**
 * The writes of a writer, on the probe's clock and in order, and what became of the next pod. `untilMs`: writes
 * that were begun later do not count.
 */
export function heardOf(record: TrialRecord, untilMs = Infinity) {
  const { writerJournal, clockOffsetMs, clockErrorMs = 0 } = record;
  const all = writesBy(writerJournal, clockOffsetMs);
  const writes = all.filter(({ begunMs }) => begunMs <= untilMs);
  const acks = writes.filter(({ error }) => error === undefined);
  const fromMs = nextWroteMs(record) + clockErrorMs;
  return {
    ...{ writes, acks, next: nextOf(record) },
    /** Acknowledged writes that were begun after the next pod's first was acknowledged, whatever the clocks' errors. */
    besideAcks: acks.filter(({ begunMs }) => begunMs > fromMs),
    /** Slots of writes that came to the disk after the next pod had read their places. */
    besideSlots: slotsLater(record),
  };
}

/** A whole scan comes each 10 s, and what is younger may be in none. */
const scannedMs = 12_000;

/** Acknowledged long enough before the last scan to be in it. */
export function settled(record: TrialRecord, acks: readonly Write[]): readonly Write[] {
  const last = record.nextJournal.scans.at(-1);
  const atMs = (last?.atMs ?? 0) + (record.nextClockOffsetMs ?? 0);
  return acks.filter((write) => answeredMs(write) < atMs - scannedMs);
}

type SeqRanges = readonly (readonly [number, number])[];

export const isInRanges = (ranges: SeqRanges, seq: number): boolean =>
  ranges.some(([from, to]) => from <= seq && seq <= to);

export const seqsOf = (ranges: SeqRanges): number[] =>
  ranges.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, index) => from + index));

/** Number of writes that were acknowledged, and not on the disk when the next pod read it; undefined: it did not. */
export function lostAcksOf(record: TrialRecord, acks: readonly Write[]): number | undefined {
  const onDisk = record.nextJournal.scans.at(-1);
  if (onDisk === undefined) return undefined;
  return settled(record, acks).filter(({ seq }) => !isInRanges(onDisk.ranges, seq)).length;
}

/** After a read that failed the first scan is not of the whole. */
export const wasBlind = ({ scans: [first], blind }: PodJournal): boolean =>
  first !== undefined && blind.some(({ atMs }) => atMs < first.atMs);

/**
 * Writes that the last scan found in places that an earlier one had found empty: the last before `sinceMs`
 * of the probe's clock, else the first, made before the next pod wrote. None where what the first one saw
 * is not known.
 */
export function slotsLater(record: TrialRecord, sinceMs = -Infinity): number[] {
  const { nextJournal, nextClockOffsetMs = 0 } = record;
  const { scans, gaps } = nextJournal;
  const before = scans.findLast(({ atMs }) => atMs + nextClockOffsetMs < sinceMs) ?? scans[0];
  const last = scans.at(-1);
  if (before === undefined || last === undefined || gaps > 0 || wasBlind(nextJournal)) return [];
  return seqsOf(last.ranges).filter((seq) => !isInRanges(before.ranges, seq));
}

/** It has written so often, and not longer ago than this. */
const steadyWrites = 20;
const steadyMs = 3000;
/** No answer for so long at the end: it hangs, or is gone. Errors come each 200 ms. */
export const silentMs = 5000;

/** Errors of a full volume or of the node itself. A fence gives others, `EIO` first of all. */
const ofMachine = /^(ENOSPC|EDQUOT|EFBIG|ENOMEM|EAGAIN|EINTR|EMFILE|ENFILE|EACCES|EPERM|EINVAL)$/;

/** Why the records of the writer prove nothing about `what` at that moment; undefined where they can. */
export function unreadable(
  { writerJournal: { failed, gaps, writes }, clockErrorMs }: TrialRecord,
  acks: readonly Write[],
  atMs: number,
  what: 'detach' | 'delete' | 'cut',
): Reason | undefined {
  if (failed !== undefined) {
    return because('WRITER_FAILED', `the writer failed: ${failed}`, { error: failed });
  }
  if (gaps > 0)
    return because('LINES_MISSING', `${gaps} lines of the writer are missing`, { gaps });
  const { error } = writes.find((write) => ofMachine.test(write.error ?? '')) ?? {};
  if (error !== undefined) {
    return because('MACHINE_ERROR', `a write failed with ${error}, which is no fence`, { error });
  }
  if (clockErrorMs === undefined) {
    return because('CLOCK_UNKNOWN', "the clock of the writer's node is not known");
  }
  const before = acks.filter((write) => answeredMs(write) < atMs).length;
  return before < steadyWrites
    ? because('FEW_WRITES', `only ${before} writes were acknowledged before the ${what}`, {
        before,
      })
    : undefined;
}

/** It had not written for a while at that moment. */
export function wasSilent(acks: readonly Write[], atMs: number): boolean {
  const last = acks.findLast((write) => answeredMs(write) < atMs);
  return atMs - (last === undefined ? -Infinity : answeredMs(last)) > steadyMs;
}

export interface Figure {
  readonly what: string;
  readonly n: number;
  /** Milliseconds; of few trials the 90th percentile is the longest. */
  readonly leastMs: number;
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly mostMs: number;
}

/** Nearest rank: a value that was measured. */
export function figure(what: string, values: readonly number[]): Figure {
  const sorted = values.toSorted((a, b) => a - b);
  const rank = (share: number): number =>
    sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
  return {
    ...{ what, n: sorted.length, leastMs: rank(0), p50Ms: rank(0.5), p90Ms: rank(0.9) },
    mostMs: rank(1),
  };
}

export type Times<T> = Readonly<Record<string, (finding: T) => number | undefined>>;

export const figuresOf = <T>(findings: readonly T[], asked: Times<T>): Figure[] =>
  Object.entries(asked).flatMap(([what, value]) => {
    const values = findings.flatMap((finding) => value(finding) ?? []);
    return values.length === 0 ? [] : [figure(what, values)];
  });

export const tally = <T extends string>(words: readonly T[]): Partial<Record<T, number>> =>
  Object.fromEntries(
    [...Map.groupBy(words, (word) => word)].map(([word, each]) => [word, each.length]),
  ) as Partial<Record<T, number>>;
