/** What clients got from the cut-off primary and from its successor; what each member held at last. */
import type { Operation } from '../history/reader.ts';
import type { Heads } from './observations.ts';
import { rejoinedAtMs, replacedAtMs } from './phases.ts';
import type { GroupStory, SeenRead, SeenView } from './story.ts';
import type { GroupVerdict } from './verdict.ts';
import { hasQuorum, selfIn } from '../database/group-views.ts';

/** What outside clients were told, from one pass over all operations. */
export function acknowledgedIn(ops: Iterable<Operation>): Acknowledged {
  const acknowledged = new Acknowledged();
  for (const op of ops) {
    const { client, outcome, endedAtMs, seq } = op;
    if (client !== 'outside' || outcome !== 'ok' || endedAtMs === undefined) continue;
    acknowledged.add(op, { seq, atMs: endedAtMs });
  }
  return acknowledged;
}

export function victimService(
  story: GroupStory,
  ops: Iterable<Operation>,
  acknowledged: Acknowledged,
): GroupVerdict['victim'] {
  const { victimNode: victim = '', faultDoneAtMs: brokenAtMs = Infinity, endAtMs, reads } = story;
  const untilMs = rejoinedAtMs(story) ?? endAtMs;
  const ended = { ok: 0, fail: 0, info: 0 };
  let lastAckMs: number | undefined;
  for (const op of ops) {
    const { outcome, endedAtMs = endAtMs, server } = op;
    if (server?.node !== victim || endedAtMs < brokenAtMs || endedAtMs > untilMs) continue;
    ended[outcome] += 1;
    if (outcome === 'ok') lastAckMs = Math.max(lastAckMs ?? 0, endedAtMs);
  }
  const asked = reads.filter(
    ({ side, node, beganAtMs }) =>
      side === 'inside' && node === victim && beganAtMs >= brokenAtMs && beganAtMs < untilMs,
  );
  const behind = behindMs(asked, acknowledged);
  const stale = behind.filter((ms) => ms > 0);
  return {
    node: victim,
    acked: ended.ok,
    refused: ended.fail,
    unknown: ended.info,
    lastAckS: lastAckMs === undefined ? null : Math.round(lastAckMs - brokenAtMs) / 1000,
    readsAnswered: behind.length,
    readsRefused: asked.length - behind.length,
    staleReads: stale.length,
    stalestMs: stale.length === 0 ? null : Math.round(Math.max(...stale)),
    claimedMs: claimedMs(story),
  };
}

/** Told from the moment at which another member was the primary. */
function claimedMs(story: GroupStory): number {
  const fromMs = replacedAtMs(story);
  if (fromMs === undefined) return 0;
  const own = story.views.filter(({ node, t }) => node === story.victimNode && t >= fromMs);
  const claims = (view: SeenView): boolean => hasQuorum(view) && selfIn(view)?.role === 'PRIMARY';
  const first = own.find(claims);
  if (first === undefined) return 0;
  const end = own.find((view) => view.t > first.t && !claims(view));
  return Math.round((end?.t ?? story.endAtMs) - first.t);
}

export function successorService(
  story: GroupStory,
  acknowledged: Acknowledged,
): GroupVerdict['successor'] {
  const { victimNode: victim, faultAtMs = Infinity, endAtMs, reads } = story;
  const asked = reads.filter(
    ({ side, node, beganAtMs }) =>
      side === 'outside' && node !== victim && beganAtMs >= faultAtMs && beganAtMs < endAtMs,
  );
  const behind = behindMs(asked, acknowledged);
  return {
    node: asked[0]?.node ?? null,
    readsAnswered: behind.length,
    staleReads: behind.filter((ms) => ms > 0).length,
  };
}

/** Lags of the reads that were answered. */
const behindMs = (reads: readonly SeenRead[], acknowledged: Acknowledged): number[] =>
  reads.flatMap(({ beganAtMs, heads }) =>
    heads === undefined ? [] : [acknowledged.behindMs({ beganAtMs, heads })],
  );

/** Each member's ledger at the end against the primary's. */
export function memberChecks({ ledgers }: GroupStory): GroupVerdict['members'] {
  const primary = ledgers.find(({ image }) => image === 'second');
  return ledgers
    .filter(({ image }) => image !== 'first')
    .map(({ node, rows, checksums, beyond = '' }) => ({
      node,
      rows: rows ?? null,
      agrees:
        checksums === undefined || primary?.checksums === undefined
          ? null
          : checksums.join() === primary.checksums.join(),
      beyond,
    }));
}

/** An answered read: what was the last row of each session. */
interface GroupRead {
  readonly beganAtMs: number;
  readonly heads: Heads;
}

interface Ack {
  readonly seq: number;
  readonly atMs: number;
}

/** Acknowledged operations of the outside client, by session. */
export class Acknowledged {
  readonly #sessions = new Map<string, Ack[]>();

  /** In the order of each session's acknowledgements. */
  add(id: { readonly connection: number; readonly session: number }, ack: Ack): void {
    const key = `${id.connection}/${id.session}`;
    const known = this.#sessions.get(key);
    if (known === undefined) this.#sessions.set(key, [ack]);
    else known.push(ack);
  }

  /**
   * How far behind a read was, ms: the age, when it began, of the oldest acknowledged row that it
   * lacked. 0 where it lacked nothing.
   */
  behindMs({ beganAtMs, heads }: GroupRead): number {
    let oldestMs = beganAtMs;
    for (const [session, acks] of this.#sessions) {
      const head = heads[session] ?? -1;
      const missed = acks.find(({ seq }) => seq > head);
      if (missed !== undefined) oldestMs = Math.min(oldestMs, missed.atMs);
    }
    return beganAtMs - oldestMs;
  }
}
