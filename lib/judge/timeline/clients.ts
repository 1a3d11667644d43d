/** What clients were answered: service, reads, what readers saw, and what a cut-off server said. */
import {
  type ClientAnswer,
  type OpId,
  type OutcomeRecord,
  type ReadRecord,
  type ServerIdentity,
  type SessionId,
  SessionMap,
} from '../../history/index.ts';
import { SeenCommits, opName } from '../checkers/reconcile.ts';
import type { Story } from './story.ts';

/** Which server gave an answer: a session is of one server, which its first record names. */
export class Servers {
  readonly #bySession = new SessionMap<ServerIdentity>();

  ofSession(id: SessionId): ServerIdentity | undefined {
    return this.#bySession.get(id);
  }

  /** Asked about each answer, in time order. Undefined where the session's record lacks it. */
  ofAnswer(answer: ClientAnswer): ServerIdentity | undefined {
    if (answer.type === 'outcome') return this.ofSession(answer);
    if (answer.type === 'session' && answer.server !== undefined)
      this.#bySession.set(answer, answer.server);
    return answer.server;
  }
}

/** Fed the answers in time order, one pass. */
export interface Meter<Result> {
  see(answer: ClientAnswer, server: ServerIdentity | undefined): void;
  result(): Result;
}

/** Feeds them all. */
export function measure(
  answers: Iterable<ClientAnswer>,
  meters: readonly Meter<unknown>[],
  servers = new Servers(),
): void {
  for (const answer of answers) {
    const server = servers.ofAnswer(answer);
    for (const meter of meters) meter.see(answer, server);
  }
}

/** One start of one pod's server, whose time is known to the second: after another it may have less. */
export const isOneServer = (one: ServerIdentity | undefined, other: ServerIdentity): boolean =>
  one !== undefined &&
  one.podUid === other.podUid &&
  one.node === other.node &&
  Math.abs(one.startedAtS - other.startedAtS) <= 1;

export interface ServiceWindow extends Pick<Story, 'faultAtMs' | 'victimNode'> {
  /** When the writers were stopped. */
  readonly endAtMs: number;
}

export interface Service {
  readonly acked: number;
  /** First acknowledgement by another node than the victim, after the fault. */
  readonly firstSuccessorAckMs: number | undefined;
  /** Last acknowledgement by the victim's server of the fault: not by one that was started there later. */
  readonly lastVictimAckMs: number | undefined;
  /** Longest gap between two outside acknowledgements after the fault; null without it or outside writers. */
  readonly downtimeMs: number | null;
  /** Another node than the victim answered an outside client until the writers were stopped. */
  readonly successorServesOn: boolean;
}

/** Longer than a busy database lets a client wait. */
const silenceMs = 10_000;

/** In constant memory. */
export class ServiceMeter implements Meter<Service> {
  readonly #window: ServiceWindow;
  #acked = 0;
  #firstSuccessorAckMs: number | undefined;
  #victim: ServerIdentity | undefined;
  #lastVictimAckMs: number | undefined;
  #lastOutsideAckMs: number | undefined;
  #lastOutsideSuccessorAckMs = Number.NEGATIVE_INFINITY;
  #downtimeMs = 0;

  constructor(window: ServiceWindow) {
    this.#window = window;
  }

  see(answer: ClientAnswer, server: ServerIdentity | undefined): void {
    if (answer.type !== 'outcome' || answer.outcome !== 'ok') return;
    const { t, client } = answer;
    const { faultAtMs = Infinity, victimNode } = this.#window;
    const node = server?.node;
    this.#acked += 1;
    if (server !== undefined && node === victimNode) {
      if (t < faultAtMs) this.#victim = server;
      if (isOneServer(this.#victim ?? server, server)) this.#lastVictimAckMs = t;
    } else if (t >= faultAtMs) this.#firstSuccessorAckMs ??= t;
    if (client !== 'outside') return;
    if (node !== undefined && node !== victimNode) this.#lastOutsideSuccessorAckMs = t;
    this.#gapUntil(t);
    this.#lastOutsideAckMs = t;
  }

  #gapUntil(t: number): void {
    const { faultAtMs } = this.#window;
    if (this.#lastOutsideAckMs === undefined || faultAtMs === undefined || t < faultAtMs) return;
    this.#downtimeMs = Math.max(this.#downtimeMs, t - this.#lastOutsideAckMs);
  }

  result(): Service {
    const { faultAtMs, endAtMs } = this.#window;
    const isKnown = faultAtMs !== undefined && this.#lastOutsideAckMs !== undefined;
    if (isKnown) this.#gapUntil(endAtMs);
    return {
      acked: this.#acked,
      firstSuccessorAckMs: this.#firstSuccessorAckMs,
      lastVictimAckMs: this.#lastVictimAckMs,
      downtimeMs: isKnown ? Math.round(this.#downtimeMs) : null,
      successorServesOn: endAtMs - this.#lastOutsideSuccessorAckMs <= silenceMs,
    };
  }
}

// What clients read of the ledger: which commits they saw, and where one server's newest row went back.
// Nothing is ever deleted, so a server that has shown a row has to show it or a later one.

/** Keeps the first of a kind, and counts it. */
function count<Kind extends { readonly count: number }>(
  kinds: Map<string, Kind>,
  key: string,
  first: Omit<Kind, 'count'>,
): void {
  const known = kinds.get(key);
  kinds.set(key, { ...first, ...known, count: (known?.count ?? 0) + 1 } as Kind);
}

/** Reads of one client that saw less than an earlier read of the same server. */
export interface WentBack {
  readonly client: string;
  readonly node: string;
  readonly count: number;
  /** When the first of them was answered, ms on the run's clock. */
  readonly atMs: number;
  /** What that one saw, and what had been seen before. */
  readonly saw: string;
  readonly before: string;
}

/** What one client has read from one server, from its start to its end. */
interface ServerHead {
  readonly server: ServerIdentity;
  head: OpId | undefined;
  /** Highest seq read, by session: each session's rows are stored in order of seq. */
  readonly highest: SessionMap<number>;
}

export class ReadMeter implements Meter<ReadMeter> {
  readonly #seen = new Map<string, SeenCommits>();
  readonly #servers = new Map<string, ServerHead>();
  readonly #back = new Map<string, WentBack>();

  see(answer: ClientAnswer): void {
    if (answer.type !== 'read') return;
    const { client, server, head, t } = answer;
    const key = `${client}/${server.podUid}`;
    let seen = this.#servers.get(key);
    if (!isOneServer(seen?.server, server) || seen === undefined) {
      seen = { server, head: undefined, highest: new SessionMap() };
      this.#servers.set(key, seen);
    }
    if (isBehind(seen, head)) {
      const [saw, before] = [nameOf(head), nameOf(seen.head)];
      count(this.#back, key, { client, node: server.node, atMs: t, saw, before });
    }
    seen.head = head;
    if (head === undefined) return;
    const seenBy = this.#seen.get(client) ?? new SeenCommits();
    this.#seen.set(client, seenBy);
    seenBy.add({ ...head, atMs: t, by: `the ${client} client on ${server.node}` });
    seen.highest.set(head, Math.max(head.seq, seen.highest.get(head) ?? 0));
  }

  result(): this {
    return this;
  }

  /** Without these clients'. */
  wentBack(without: ReadonlySet<string> = new Set()): WentBack[] {
    return [...this.#back.values()].filter(({ client }) => !without.has(client));
  }

  /** What was read, without these clients' reads. */
  seen(without: ReadonlySet<string> = new Set()): SeenCommits {
    const all = new SeenCommits();
    for (const [client, seen] of this.#seen) {
      if (!without.has(client)) for (const each of seen) all.add(each);
    }
    return all;
  }
}

/** Another row than the last read's that is no later one of its session, or none at all. */
function isBehind({ head: last, highest }: ServerHead, head: OpId | undefined): boolean {
  if (last === undefined) return false;
  if (head === undefined) return true;
  if (opName(head) === opName(last)) return false;
  return head.seq <= (highest.get(head) ?? -1);
}

const nameOf = (head: OpId | undefined): string => (head === undefined ? 'no row' : opName(head));

// What a reader must have seen, by what writers were told: a client that is served reads something, and a
// server that has acknowledged a row shows it or a later one. A reader that is blind is found by the
// acknowledgements.

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

export class ReaderSightMeter implements Meter<BlindRead[]> {
  /** By client; one that is to read nothing has none. */
  readonly #patience: ReadonlyMap<string, Patience>;
  readonly #servers: Servers;
  readonly #acked = new SessionMap<AckedHead>();
  /** By pod: its server's first acknowledgement. */
  readonly #firstAck = new Map<
    string,
    { readonly server: ServerIdentity; readonly atMs: number }
  >();
  readonly #served = new Map<string, Served>();
  readonly #blind = new Map<string, BlindRead>();

  constructor(patience: ReadonlyMap<string, Patience>, servers: Servers) {
    this.#patience = patience;
    this.#servers = servers;
  }

  see(answer: ClientAnswer, server: ServerIdentity | undefined): void {
    if (answer.type === 'read') this.#read(answer);
    else if (answer.type === 'outcome' && answer.outcome === 'ok' && server !== undefined)
      this.#ack(answer, server);
  }

  result(): BlindRead[] {
    return [...this.#blind.values()];
  }

  #ack(outcome: OutcomeRecord, server: ServerIdentity): void {
    const { client, seq, t } = outcome;
    const first = this.#firstAck.get(server.podUid);
    if (!isOneServer(first?.server, server)) this.#firstAck.set(server.podUid, { server, atMs: t });
    const acked = this.#acked.getOrMake(outcome, () => ({ seq, atMs: t }));
    Object.assign(acked, { seq, atMs: t });
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
      if (first !== undefined && isOneServer(first.server, server) && first.atMs < sentAtMs) {
        this.#blame({ client, what: 'no-row', atMs: t, node });
      }
      return;
    }
    const acked = this.#acked.get(head);
    if (acked === undefined || !isOneServer(this.#servers.ofSession(head), server)) return;
    if (acked.atMs < sentAtMs && acked.seq > head.seq) {
      this.#blame({ client, what: 'older-row', atMs: t, node });
    }
  }

  #blame(blind: Omit<BlindRead, 'count'>): void {
    count(this.#blind, `${blind.client}/${blind.what}/${blind.node}`, blind);
  }
}

// Stale reads: a server that was replaced still answers, with the ledger as it was. A read by the old pod
// counts once the successor had acknowledged something before the read was sent, and the newest row that the
// read saw is none of the successor's.

/** Stale reads of one client. */
export interface StaleReads {
  readonly client: string;
  readonly count: number;
  /** When the first and the last of them were sent, on the run's clock. */
  readonly fromMs: number;
  readonly toMs: number;
  /** How long the oldest commit that a read did not see had been acknowledged by then. */
  readonly oldestMs: number;
  /** Commits of the successor that a read did not see, at most. */
  readonly behind: number;
}

/** The victim: the pod that the fault hit, and its node. */
export function staleReadMeter(
  {
    victimUid,
    victimNode,
    faultAtMs = Infinity,
  }: Pick<Story, 'victimUid' | 'victimNode' | 'faultAtMs'>,
  servers: Servers,
): Meter<StaleReads[]> {
  /** The successor's acknowledgements, in order of time. */
  const ackedMs: number[] = [];
  const byClient = new Map<string, StaleReads>();
  const isSuccessors = (server: ServerIdentity | undefined): boolean =>
    server !== undefined && server.node !== victimNode;
  /** The answer came a little later than the question: look back from the end. */
  const ackedBy = (ms: number): number => ackedMs.findLastIndex((t) => t <= ms) + 1;
  const read = ({ client, sentAtMs, head }: ReadRecord): void => {
    const [firstMs] = ackedMs;
    if (firstMs === undefined || firstMs > sentAtMs) return;
    if (head !== undefined && isSuccessors(servers.ofSession(head))) return;
    const before = byClient.get(client);
    byClient.set(client, {
      client,
      count: (before?.count ?? 0) + 1,
      fromMs: before?.fromMs ?? sentAtMs,
      toMs: sentAtMs,
      oldestMs: Math.max(before?.oldestMs ?? 0, sentAtMs - firstMs),
      behind: Math.max(before?.behind ?? 0, ackedBy(sentAtMs)),
    });
  };
  return {
    see(answer, server) {
      if (answer.type === 'read') {
        if (server?.podUid === victimUid) read(answer);
      } else if (answer.type === 'outcome' && answer.outcome === 'ok') {
        if (answer.t >= faultAtMs && isSuccessors(server)) ackedMs.push(answer.t);
      }
    },
    result: () => [...byClient.values()],
  };
}
