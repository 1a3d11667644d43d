/** Which reads lacked what had been acknowledged before they began. */
import type { Heads } from './observations.ts';

/** An answered read: what was the last row of each session. */
export interface Read {
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
  behindMs({ beganAtMs, heads }: Read): number {
    let oldestMs = beganAtMs;
    for (const [session, acks] of this.#sessions) {
      const head = heads[session] ?? -1;
      const missed = acks.find(({ seq }) => seq > head);
      if (missed !== undefined) oldestMs = Math.min(oldestMs, missed.atMs);
    }
    return beganAtMs - oldestMs;
  }
}
