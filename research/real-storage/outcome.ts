/** What a trial came to, from the writers' journals, the array's log of writes, and the blocks at its end. */
import { z } from 'zod';
import { type Asked, isAcked, type Journal, readJournal } from './journal.ts';
import { afterReboot, blockOf, sharedBlock, type NodeName, type Token } from './token.ts';

/** What a node got for its requests at the end of a watch. `nothing`: it asked nothing. */
export const answers = ['goes on', 'error', 'hangs', 'nothing'] as const;

const maybeMs = z.number().nullable();
/** Times are milliseconds after the beginning of the watch. */
const watched = z.strictObject({
  /** In the last 5 s. */
  at: z.enum(answers),
  /** Of writes that were asked since. */
  acks: z.number(),
  errors: z.number(),
  /** The first one. */
  error: z.string().nullable(),
  errorMs: maybeMs,
  lastAckMs: maybeMs,
  /** Writes of the node that landed meanwhile; null where neither the array nor a reader shows any. */
  landed: z.number().nullable(),
  landedMs: maybeMs,
  /** Of those, writes that the node had asked before the watch began; null where the log keeps no data. */
  replayed: z.number().nullable(),
});
export type Watched = z.output<typeof watched>;

export const outcomeSchema = z.strictObject({
  /** From the revocation on (where nobody revokes: from the second attach), and after the heal, where there is one. */
  revoked: watched,
  healed: watched.nullable(),
  /** After the revocation was undone. */
  givenBack: watched.nullable(),
  reboot: z.strictObject({ opened: z.boolean(), why: z.string().nullable(), watched }).nullable(),
  revokeMs: maybeMs,
  /** Why it could not be revoked or given back. */
  failed: z.string().nullable(),
  /** The second node: from the first attempt to attach. */
  second: z.strictObject({
    attachMs: maybeMs,
    firstAckMs: maybeMs,
    acks: z.number(),
    errors: z.number(),
    failed: z.string().nullable(),
  }),
  /** Acknowledged writes that are not there at the end, though nobody else wrote that block. */
  lost: z.strictObject({ a: z.number(), b: z.number() }),
  /** `log`: each write by the array; `reader`: what the second node read on the shared block, and the end. */
  evidence: z.enum(['log', 'reader']),
  /** How late timers of writers and runner were at most. */
  lateMs: z.number(),
  /** Share of the trial in which some task of the machine waited for a processor, 0 … 1. */
  cpuPressure: z.number(),
});
export type Outcome = z.output<typeof outcomeSchema>;

/** A write that the array applied. */
export interface Landed {
  readonly node: NodeName;
  readonly atMs: number;
  /** Absent: the log keeps no data. */
  readonly token?: Token | undefined;
}

export interface Window {
  readonly fromMs: number;
  readonly toMs: number;
  /** Acknowledgements and what lands count from then on: a revocation takes its time. Default: all. */
  readonly countedMs?: number;
}

/** So long before its end a watch looks for what a node gets. */
export const lastMs = 5000;

/** With later timers what comes in the last 5 s may be something else: such a trial is repeated, or marked. */
export const mostLateMs = 2500;

const rounded = (ms: number | undefined): number | null =>
  ms === undefined ? null : Math.round(ms);

/** What the node got in that time, and what of it landed. */
export function watch(
  journal: Journal,
  landed: readonly Landed[] | undefined,
  window: Window,
): Watched {
  const { fromMs, toMs, countedMs = fromMs } = window;
  const within = ({ endedMs = Number.POSITIVE_INFINITY }: Asked): boolean =>
    endedMs > fromMs && endedMs <= toMs;
  const ended = journal.asked.filter(within);
  const acks = ended.filter(isAcked);
  // One that was under way may be acknowledged a moment later.
  const counted = acks.filter(({ atMs }) => atMs > countedMs);
  const errors = ended.filter(({ error }) => error !== undefined);
  const own = landed?.filter(({ node, atMs }) => node === 'a' && atMs > countedMs && atMs <= toMs);
  const begun = new Map(journal.asked.map(({ seq, atMs }) => [seq, atMs]));
  const replayed = own?.filter(
    ({ token }) => (begun.get(token?.seq ?? -1) ?? Number.POSITIVE_INFINITY) <= fromMs,
  );
  const after = (ms: number | undefined): number | null =>
    rounded(ms === undefined ? undefined : ms - fromMs);
  return {
    at: atEnd(journal.asked, window),
    acks: counted.length,
    errors: errors.length,
    error: errors[0]?.error ?? null,
    errorMs: after(errors[0]?.endedMs),
    lastAckMs: after(acks.at(-1)?.endedMs),
    landed: own?.length ?? null,
    landedMs: after(own?.[0]?.atMs),
    replayed:
      own?.every(({ token }) => token !== undefined) === true ? (replayed?.length ?? 0) : null,
  };
}

function atEnd(asked: readonly Asked[], { fromMs, toMs }: Window): Watched['at'] {
  const since = Math.max(fromMs, toMs - lastMs);
  const late = asked.filter(({ endedMs = 0 }) => endedMs > since && endedMs <= toMs);
  if (late.some(isAcked)) return 'goes on';
  if (late.some(({ error }) => error !== undefined)) return 'error';
  const waits = asked.some(
    ({ atMs, endedMs = Number.POSITIVE_INFINITY }) => atMs <= toMs && endedMs > toMs,
  );
  return waits ? 'hangs' : 'nothing';
}

/**
 * Where the array has no log: what the second node read of the first one's on the shared block once it had written
 * that itself, and what is there at the end, which may have landed as soon as it was asked.
 */
export function landedWithoutLog(
  first: readonly Asked[],
  second: Journal,
  tokens: readonly Token[],
): Landed[] {
  const askedMs = new Map(first.map(({ seq, atMs, endedMs }) => [seq, endedMs ?? atMs]));
  const times = new Map<number, number>();
  for (const { node, seq } of tokens) {
    if (node === 'a') times.set(seq, askedMs.get(seq) ?? 0);
  }
  const sinceMs = second.asked.find((each) => isAcked(each) && each.seq % 2 === 0)?.endedMs;
  for (const { seq, atMs } of second.found) {
    if (sinceMs !== undefined && atMs > sinceMs)
      times.set(seq, Math.min(atMs, times.get(seq) ?? atMs));
  }
  return [...times]
    .map(([seq, atMs]) => ({ node: 'a' as const, atMs, token: { node: 'a' as const, seq } }))
    .toSorted((x, y) => x.atMs - y.atMs);
}

/** Acknowledged writes of a node whose block holds an older one at the end. The shared block has two writers. */
export function lostOf(
  node: NodeName,
  asked: readonly Asked[],
  blockAt: (number: number) => Token | undefined,
): Token[] {
  const newest = new Map<number, Token>();
  for (const { seq } of asked.filter(isAcked)) newest.set(blockOf({ node, seq }), { node, seq });
  newest.delete(sharedBlock);
  return [...newest].flatMap(([number, token]) => {
    const there = blockAt(number);
    return there?.node === node && there.seq >= token.seq ? [] : [token];
  });
}

export interface Marks {
  /** The revocation; 0 where nobody revokes, or it has not come. */
  readonly beganMs: number;
  readonly returnedMs: number;
  readonly attachMs: number;
  readonly attachedMs?: number;
  readonly healMs?: number;
  readonly givenBackMs?: number;
  readonly rebootMs?: number;
  readonly endMs: number;
}

/** All that a trial is judged by. Times are of CLOCK_MONOTONIC. */
export interface Evidence {
  readonly marks: Marks;
  /** Lines of the writers' journals. `rebooted`: the first node's with its new initiator. */
  readonly lines: Readonly<Record<'a' | 'b' | 'rebooted', readonly string[]>>;
  /** Absent: nothing logs the writes. */
  readonly landed?: readonly Landed[] | undefined;
  /** What is in each block at the end, by its number. */
  readonly blocks: readonly (Token | null)[];
  readonly opened?: { readonly opened: boolean; readonly why: string | null } | undefined;
  readonly failed: string | null;
  readonly secondFailed: string | null;
  /** Of the runner's timers. */
  readonly lateMs: number;
  /** The first node's timers were held with it. */
  readonly frozen: boolean;
  readonly cpuPressure: number;
}

export function outcomeFrom(evidence: Evidence): Outcome {
  const { marks, lines, blocks, opened } = evidence;
  const [a, b, rebooted] = [
    readJournal(lines.a),
    readJournal(lines.b),
    readJournal(lines.rebooted),
  ];
  const { beganMs, attachMs, attachedMs, healMs, givenBackMs, rebootMs, endMs } = marks;
  const isRevoked = marks.returnedMs > 0;
  const asked = [...a.asked, ...rebooted.asked];
  const tokens = blocks.filter((token) => token !== null);
  const landed = evidence.landed ?? landedWithoutLog(asked, b, tokens);
  const landedAgain = landed.filter(({ token }) => token === undefined || token.seq >= afterReboot);
  const fromMs = isRevoked ? beganMs : (attachedMs ?? attachMs);
  const countedMs = isRevoked ? marks.returnedMs : fromMs;
  const toMs = Math.max(fromMs, healMs ?? givenBackMs ?? rebootMs ?? endMs);
  const since = (ms: number | undefined): Watched | null =>
    ms === undefined ? null : watch(a, landed, { fromMs: ms, toMs: endMs });
  const afterAttach = (ms: number | undefined): number | null =>
    rounded(ms === undefined ? undefined : ms - attachMs);
  const lost = (node: NodeName, of: readonly Asked[]): number =>
    lostOf(node, of, (number) => blocks[number] ?? undefined).length;
  return {
    revoked: watch(a, landed, { fromMs, toMs, countedMs }),
    healed: since(healMs),
    givenBack: since(givenBackMs),
    reboot:
      opened === undefined || rebootMs === undefined
        ? null
        : { ...opened, watched: watch(rebooted, landedAgain, { fromMs: rebootMs, toMs: endMs }) },
    revokeMs: isRevoked ? Math.round(marks.returnedMs - beganMs) : null,
    failed: evidence.failed,
    second: {
      attachMs: afterAttach(attachedMs),
      firstAckMs: afterAttach(b.asked.find(isAcked)?.endedMs),
      acks: b.asked.filter(isAcked).length,
      errors: b.asked.filter(({ error }) => error !== undefined).length,
      failed: attachedMs === undefined ? evidence.secondFailed : null,
    },
    lost: { a: lost('a', asked), b: lost('b', b.asked) },
    evidence: evidence.landed === undefined ? 'reader' : 'log',
    lateMs: Math.round(Math.max(evidence.lateMs, b.lateMs, evidence.frozen ? 0 : a.lateMs)),
    cpuPressure: Math.round(evidence.cpuPressure * 1000) / 1000,
  };
}
