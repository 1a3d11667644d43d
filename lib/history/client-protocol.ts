/**
 * How the journal of a client runs, whatever a database answers: sessions and operations count up by
 * one, each operation is sent on an open session and has one outcome before the next is sent, no time
 * goes back, and each beat tells how many records there are. What does not run so lacks something.
 */
import type { HistoryRecord, ClientBeatRecord, ReadRecord, SessionRecord } from './records.ts';
import type { OperationLine } from './lines.ts';

/** What one connection did in a stretch: nothing. Microseconds on the run's clock. */
interface Silence {
  readonly fromUs: number;
  readonly toUs: number;
}

export interface ConnectionState {
  firstUs: number | undefined;
  lastUs: number;
  session: number;
  seq: number;
  isOpen: boolean;
  isUnderWay: boolean;
  /** The longest between two of its records. */
  longest: Silence;
}

interface Oddity {
  readonly first: string;
  count: number;
}

/** A reader gives up after 5 s; a busy machine adds to that. */
const readWithinMs = 30_000;

/** One client's records of one kind, in the order in which it wrote them. */
export class ClientJournal {
  readonly connections: ConnectionState[] = [];
  readonly beats: ClientBeatRecord[] = [];
  readonly #done: Record<string, number> = {};
  readonly #oddities = new Map<string, Oddity>();
  #readMs = 0;

  /** Sentences: each kind of oddity once, with how often it was found. */
  oddities(): string[] {
    return [...this.#oddities].map(([what, { first, count }]) =>
      count === 1 ? `${what}: ${first}` : `${what} (${count} times): ${first}`,
    );
  }

  session({ connection, session, server, t }: SessionRecord): void {
    const at = this.#at(connection, t * 1000);
    this.#count('session');
    const name = `session ${connection}/${session}`;
    if (session !== at.session + 1) this.#odd('a session is missing', `before ${name}`);
    if (at.isUnderWay) this.#odd('an outcome is missing', `before ${name}`);
    Object.assign(at, { session, seq: -1, isOpen: server !== undefined, isUnderWay: false });
  }

  operation({ atUs, what, connection, session, seq }: OperationLine): void {
    const at = this.#at(connection, atUs);
    const isSame = at.isOpen && session === at.session;
    if (what === 'append' || what === 'transfer') {
      this.#count('invoke');
      if (!isSame) this.#oddOf('no session was open', connection, session, seq);
      if (at.isUnderWay) this.#oddOf('an outcome is missing', connection, session, seq);
      if (isSame && seq !== at.seq + 1) {
        this.#oddOf('an operation is missing', connection, session, seq);
      }
      at.isUnderWay = true;
    } else {
      this.#count('outcome');
      if (!at.isUnderWay || seq !== at.seq || !isSame) {
        this.#oddOf('an outcome of what was not sent', connection, session, seq);
      }
      at.isUnderWay = false;
      // Nobody knows what such a session would answer next.
      if (what === 'info') at.isOpen = false;
    }
    at.seq = seq;
  }

  /** Answers come one after the other, each within the time that its client waits for it. */
  read({ sentAtMs, t }: Pick<ReadRecord, 'sentAtMs' | 't'>): void {
    this.#count('read');
    if (sentAtMs < this.#readMs - 1) this.#odd('time goes back', `at the read of ${sentAtMs} ms`);
    if (t < sentAtMs || t > sentAtMs + readWithinMs) {
      this.#odd('an answer came when its client did not wait', `to the read of ${sentAtMs} ms`);
    }
    this.#readMs = t;
  }

  beat(beat: ClientBeatRecord): void {
    if (this.beats.at(-1)?.last === true)
      this.#odd('a record follows the last beat', 'another beat');
    this.beats.push(beat);
    const types = new Set([...Object.keys(beat.done), ...Object.keys(this.#done)]);
    for (const type of types) {
      const [told, found] = [beat.done[type] ?? 0, this.#done[type] ?? 0];
      // Tries without an answer leave no record.
      if (type === 'refused' || told === found) continue;
      const atS = (beat.t / 1000).toFixed(1);
      this.#odd(
        `records of type ${type} are not as many as were written`,
        `${found} of ${told} by ${atS} s`,
      );
    }
  }

  #at(connection: number, atUs: number): ConnectionState {
    if (this.beats.at(-1)?.last === true)
      this.#odd('a record follows the last beat', 'a session or an operation');
    let at = this.connections[connection];
    if (at === undefined) {
      at = {
        ...{ firstUs: undefined, lastUs: atUs, session: -1, seq: -1 },
        ...{ isOpen: false, isUnderWay: false, longest: { fromUs: 0, toUs: 0 } },
      };
      this.connections[connection] = at;
    }
    at.firstUs ??= atUs;
    const silentUs = atUs - at.lastUs;
    // Times are rounded to the microsecond.
    if (silentUs < -1) {
      this.#odd('time goes back', `by ${-silentUs / 1000} ms on connection ${connection}`);
    }
    const { longest } = at;
    if (silentUs > longest.toUs - longest.fromUs) at.longest = { fromUs: at.lastUs, toUs: atUs };
    at.lastUs = atUs;
    return at;
  }

  #count(type: string): void {
    this.#done[type] = (this.#done[type] ?? 0) + 1;
  }

  #oddOf(what: string, connection: number, session: number, seq: number): void {
    this.#odd(what, `at operation ${connection}/${session}/${seq}`);
  }

  #odd(what: string, first: string): void {
    const known = this.#oddities.get(what);
    if (known === undefined) this.#oddities.set(what, { first, count: 1 });
    else known.count += 1;
  }
}

/** The journals of all clients, fed their records in the order of each segment. */
export class ClientJournals {
  readonly #writing = new Map<string, ClientJournal>();
  readonly #reading = new Map<string, ClientJournal>();

  get clients(): ReadonlySet<string> {
    return new Set([...this.#writing.keys(), ...this.#reading.keys()]);
  }

  /** Clients whose records contradict themselves: neither what they sent nor what they were answered is proven. */
  get refuted(): ReadonlySet<string> {
    const isOdd = (client: string): boolean =>
      [this.#writing, this.#reading].some(
        (journals) => (journals.get(client)?.oddities() ?? []).length > 0,
      );
    return new Set([...this.clients].filter(isOdd));
  }

  of(client: string, doing: ClientBeatRecord['doing']): ClientJournal {
    const journals = doing === 'writing' ? this.#writing : this.#reading;
    let journal = journals.get(client);
    if (journal === undefined) journals.set(client, (journal = new ClientJournal()));
    return journal;
  }

  operation(line: OperationLine, client: string): void {
    this.of(client, 'writing').operation(line);
  }

  record(record: HistoryRecord): void {
    if (record.type === 'session') this.of(record.client, 'writing').session(record);
    else if (record.type === 'read') this.of(record.client, 'reading').read(record);
    else if (record.type === 'client-beat') this.of(record.client, record.doing).beat(record);
  }
}
