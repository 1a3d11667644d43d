/**
 * What clients read of the ledger: which commits they saw, and where one server's newest row went
 * back. Nothing is ever deleted, so a server that has shown a row has to show it or a later one.
 */
import { opName } from '../checkers/op-sample.ts';
import { SeenCommits } from '../checkers/seen-commits.ts';
import { type ReadRecord, sessionKey, type OpId } from '../../history/index.ts';

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

/** What one client has seen of one server, from its start to its end. */
interface ServerHead {
  /** UNIX seconds, ± 1: another one is another start of the server. */
  readonly startedAtS: number;
  head: OpId | undefined;
  /** Highest seq seen, by session: each session's rows are stored in order of seq. */
  readonly highest: Map<string, number>;
}

/** Fed the reads in time order, one pass. */
export class ReadMeter {
  readonly seen = new SeenCommits();
  readonly #servers = new Map<string, ServerHead>();
  readonly #back = new Map<string, WentBack>();

  see(read: ReadRecord): void {
    const { client, server, head, t } = read;
    const key = `${client}/${server.podUid}`;
    let seen = this.#servers.get(key);
    if (seen === undefined || Math.abs(seen.startedAtS - server.startedAtS) > 1) {
      seen = { startedAtS: server.startedAtS, head: undefined, highest: new Map() };
      this.#servers.set(key, seen);
    }
    if (isBehind(seen, head)) this.#wentBack(key, read, seen.head);
    seen.head = head;
    if (head === undefined) return;
    this.seen.add({ ...head, atMs: t, by: `the ${client} client on ${server.node}` });
    const session = sessionKey(head);
    seen.highest.set(session, Math.max(head.seq, seen.highest.get(session) ?? 0));
  }

  wentBack(): WentBack[] {
    return [...this.#back.values()];
  }

  #wentBack(key: string, { client, server, head, t }: ReadRecord, was: OpId | undefined): void {
    const before = this.#back.get(key);
    this.#back.set(key, {
      ...{ client, node: server.node, atMs: t, saw: nameOf(head), before: nameOf(was) },
      ...before,
      count: (before?.count ?? 0) + 1,
    });
  }
}

/** Another row than the last read's that is no later one of its session, or none at all. */
function isBehind({ head: last, highest }: ServerHead, head: OpId | undefined): boolean {
  if (last === undefined) return false;
  if (head === undefined) return true;
  if (opName(head) === opName(last)) return false;
  return head.seq <= (highest.get(sessionKey(head)) ?? -1);
}

const nameOf = (head: OpId | undefined): string => (head === undefined ? 'no row' : opName(head));
