/** A map by session. It is asked for each of millions of rows, so it makes no text to look up by. */
import type { SessionId } from './ledger.ts';

/** Connections are below it: they are kept as two unsigned bytes. */
const connectionsEnd = 2 ** 16;

export class SessionMap<Value> {
  readonly #clients = new Map<string, Map<number, Value>>();

  get({ client, connection, session }: SessionId): Value | undefined {
    return this.#clients.get(client)?.get(session * connectionsEnd + connection);
  }

  /** What was set, or else what is made and set now. */
  getOrMake(id: SessionId, make: (id: SessionId) => Value): Value {
    const known = this.get(id);
    if (known !== undefined) return known;
    const made = make(id);
    this.set(id, made);
    return made;
  }

  set({ client, connection, session }: SessionId, value: Value): void {
    let ofClient = this.#clients.get(client);
    if (ofClient === undefined) this.#clients.set(client, (ofClient = new Map()));
    ofClient.set(session * connectionsEnd + connection, value);
  }

  /** All that were set, by client. */
  *values(): Generator<Value> {
    for (const ofClient of this.#clients.values()) yield* ofClient.values();
  }
}
