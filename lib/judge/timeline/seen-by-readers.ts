/**
 * What a reader must have seen, by what writers were told: a client that is served reads something,
 * and a server that has acknowledged a row shows it or a later one. A reader that is blind is found by
 * the acknowledgements.
 */
import {
  type OutcomeRecord,
  type ReadRecord,
  type SessionRecord,
  type ServerIdentity,
  sessionKey,
} from '../../history/index.ts';
import type { WentBack } from './read-heads.ts';

export interface BlindRead extends Omit<WentBack, 'saw' | 'before'> {
  readonly what: 'no-row' | 'older-row' | 'no-answer';
}

interface AckedHead {
  /** The newest acknowledgement's, and when it came. */
  seq: number;
  atMs: number;
}

interface Served {
  /** Since when acknowledgements have come without a long break. */
  sinceMs: number;
  lastMs: number;
  readAtMs: number;
}

export interface Patience {
  /** Longer without an acknowledgement: the client was not served all the time. */
  readonly breakMs: number;
  /** Served for longer, and no answer to a read: its reader is blind. */
  readonly blindMs: number;
}

/** Fed answers in time order, one pass. */
export class ReaderSightMeter {
  /** By client; one that is to read nothing has none. */
  readonly #patience: ReadonlyMap<string, Patience>;
  readonly #servers = new Map<string, ServerIdentity>();
  /** By server and session. */
  readonly #acked = new Map<string, AckedHead>();
  /** By pod: its server's first acknowledgement. */
  readonly #firstAck = new Map<
    string,
    { readonly server: ServerIdentity; readonly atMs: number }
  >();
  readonly #served = new Map<string, Served>();
  readonly #blind = new Map<string, BlindRead>();

  constructor(patience: ReadonlyMap<string, Patience>) {
    this.#patience = patience;
  }

  see(answer: SessionRecord | OutcomeRecord | ReadRecord): void {
    if (answer.type === 'read') this.#read(answer);
    else if (answer.type === 'session') {
      if (answer.server !== undefined) this.#servers.set(sessionKey(answer), answer.server);
    } else if (answer.outcome === 'ok') this.#ack(answer);
  }

  result(): BlindRead[] {
    return [...this.#blind.values()];
  }

  #ack(outcome: OutcomeRecord): void {
    const session = sessionKey(outcome);
    const server = this.#servers.get(session);
    const { client, seq, t } = outcome;
    if (server === undefined) return;
    const first = this.#firstAck.get(server.podUid);
    if (!isOne(first?.server, server)) this.#firstAck.set(server.podUid, { server, atMs: t });
    // A session is of one server.
    const acked = this.#acked.get(session);
    if (acked === undefined) this.#acked.set(session, { seq, atMs: t });
    else Object.assign(acked, { seq, atMs: t });
    this.#serve(client, t, server.node);
  }

  #serve(client: string, t: number, node: string): void {
    const patience = this.#patience.get(client);
    if (patience === undefined) return;
    const served = this.#served.get(client);
    if (served === undefined) {
      this.#served.set(client, { sinceMs: t, lastMs: t, readAtMs: t });
      return;
    }
    if (t - served.lastMs > patience.breakMs) served.sinceMs = t;
    served.lastMs = t;
    const fromMs = Math.max(served.sinceMs, served.readAtMs);
    if (t - fromMs <= patience.blindMs) return;
    this.#blame({ client, what: 'no-answer', atMs: fromMs, node });
    served.readAtMs = t;
  }

  #read({ client, server, head, sentAtMs, t }: ReadRecord): void {
    const served = this.#served.get(client);
    if (served !== undefined) served.readAtMs = t;
    const { node } = server;
    if (head === undefined) {
      const first = this.#firstAck.get(server.podUid);
      if (first !== undefined && isOne(first.server, server) && first.atMs < sentAtMs) {
        this.#blame({ client, what: 'no-row', atMs: t, node });
      }
      return;
    }
    const session = sessionKey(head);
    const acked = this.#acked.get(session);
    if (acked === undefined || !isOne(this.#servers.get(session), server)) return;
    if (acked.atMs < sentAtMs && acked.seq > head.seq) {
      this.#blame({ client, what: 'older-row', atMs: t, node });
    }
  }

  #blame(blind: Omit<BlindRead, 'count'>): void {
    const key = `${blind.client}/${blind.what}/${blind.node}`;
    const known = this.#blind.get(key);
    this.#blind.set(key, { ...blind, ...known, count: (known?.count ?? 0) + 1 });
  }
}

/** One start of one pod's server, whose time is known to the second: after another it may have less. */
const isOne = (one: ServerIdentity | undefined, other: ServerIdentity): boolean =>
  one !== undefined &&
  one.podUid === other.podUid &&
  Math.abs(one.startedAtS - other.startedAtS) <= 1;
