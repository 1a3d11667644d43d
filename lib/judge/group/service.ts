/** What clients got from the cut-off primary and from its successor; what each member held at last. */
import { hasQuorum, selfIn, type Operation } from '../../history/index.ts';
import { rejoinedAtMs, replacedAtMs } from './phases.ts';
import type { GroupStory, LedgerRead, TimedView } from './story.ts';
import type { GroupVerdict } from './verdict.ts';

/** By session: what the outside client had acknowledged, in its order. */
type Acknowledged = ReadonlyMap<string, readonly { readonly seq: number; readonly atMs: number }[]>;

export function acknowledgedIn(ops: Iterable<Operation>): Acknowledged {
  const acknowledged = new Map<string, { readonly seq: number; readonly atMs: number }[]>();
  for (const { client, connection, session, seq, outcome, endedAtMs: atMs } of ops) {
    if (client !== 'outside' || outcome !== 'ok' || atMs === undefined) continue;
    const key = `${connection}/${session}`;
    const acks = acknowledged.get(key) ?? [];
    acks.push({ seq, atMs });
    acknowledged.set(key, acks);
  }
  return acknowledged;
}

/**
 * How far behind a read was, ms: the age, when it began, of the oldest acknowledged row that it
 * lacked. 0 where it lacked nothing.
 */
export function behindMs(
  acknowledged: Acknowledged,
  { beganAtMs, heads = {} }: Pick<LedgerRead, 'beganAtMs' | 'heads'>,
): number {
  const missed = [...acknowledged].flatMap(
    ([session, acks]) => acks.find(({ seq }) => seq > (heads[session] ?? -1))?.atMs ?? [],
  );
  return beganAtMs - Math.min(beganAtMs, ...missed);
}

/** What became of such reads. */
function readsOf(
  { reads }: GroupStory,
  acknowledged: Acknowledged,
  isWanted: (read: LedgerRead) => boolean,
) {
  const wanted = reads.filter(isWanted);
  const answered = wanted.filter(({ heads }) => heads !== undefined);
  const behind = answered.map((read) => behindMs(acknowledged, read));
  const stale = behind.filter((ms) => ms > 0);
  return {
    firstNode: wanted[0]?.node ?? null,
    answered: answered.length,
    refused: wanted.length - answered.length,
    stale: stale.length,
    stalestMs: stale.length === 0 ? null : Math.round(Math.max(...stale)),
  };
}

export function victimService(
  story: GroupStory,
  ops: Iterable<Operation>,
  acknowledged: Acknowledged,
): GroupVerdict['victim'] {
  const { victimNode: victim = '', faultDoneAtMs: brokenAtMs = Infinity, endAtMs } = story;
  const untilMs = rejoinedAtMs(story) ?? endAtMs;
  const ended = { ok: 0, fail: 0, info: 0 };
  let lastAckMs: number | undefined;
  for (const { outcome, endedAtMs = endAtMs, server } of ops) {
    if (server?.node !== victim || endedAtMs < brokenAtMs || endedAtMs > untilMs) continue;
    ended[outcome] += 1;
    if (outcome === 'ok') lastAckMs = Math.max(lastAckMs ?? 0, endedAtMs);
  }
  const reads = readsOf(
    story,
    acknowledged,
    ({ side, node, beganAtMs }) =>
      side === 'inside' && node === victim && beganAtMs >= brokenAtMs && beganAtMs < untilMs,
  );
  return {
    node: victim,
    acked: ended.ok,
    refused: ended.fail,
    unknown: ended.info,
    lastAckS: lastAckMs === undefined ? null : Math.round(lastAckMs - brokenAtMs) / 1000,
    readsAnswered: reads.answered,
    readsRefused: reads.refused,
    staleReads: reads.stale,
    stalestMs: reads.stalestMs,
    claimedMs: claimedMs(story),
  };
}

/** From the moment at which another member was the primary. */
function claimedMs(story: GroupStory): number {
  const fromMs = replacedAtMs(story) ?? Infinity;
  const own = story.views.filter(({ node, t }) => node === story.victimNode && t >= fromMs);
  const claims = (view: TimedView): boolean => hasQuorum(view) && selfIn(view)?.role === 'PRIMARY';
  const first = own.find(claims);
  if (first === undefined) return 0;
  const end = own.find((view) => view.t > first.t && !claims(view));
  return Math.round((end?.t ?? story.endAtMs) - first.t);
}

export function successorService(
  story: GroupStory,
  acknowledged: Acknowledged,
): GroupVerdict['successor'] {
  const { victimNode: victim, faultAtMs = Infinity, endAtMs } = story;
  const { firstNode, answered, stale } = readsOf(
    story,
    acknowledged,
    ({ side, node, beganAtMs }) =>
      side === 'outside' && node !== victim && beganAtMs >= faultAtMs && beganAtMs < endAtMs,
  );
  return { node: firstNode, readsAnswered: answered, staleReads: stale };
}

/** Each member's ledger at the end against the primary's. */
export function memberChecks({ ledgers }: GroupStory): GroupVerdict['members'] {
  const primary = ledgers.find(({ image }) => image === 'second')?.checksums;
  return ledgers
    .filter(({ image }) => image !== 'first')
    .map(({ node, rows = null, checksums, beyond = '' }) => ({
      ...{ node, rows },
      agrees: checksums && primary ? checksums.join() === primary.join() : null,
      beyond,
    }));
}
