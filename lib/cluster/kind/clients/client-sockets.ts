/** Which socket leads each client to its database now, and who wants to know when that changes. */
import type { ClientSide } from '../../../workload/sql.ts';
import type { WriterRoutes } from './writers.ts';

export class ClientSockets implements WriterRoutes {
  readonly #sockets = new Map<ClientSide, string>();
  readonly #listeners = new Set<(side: ClientSide, socket: string) => void>();

  get(side: ClientSide): string | undefined {
    return this.#sockets.get(side);
  }

  onChange(listener: (side: ClientSide, socket: string) => void): void {
    this.#listeners.add(listener);
  }

  /** Tells a socket again that did not change: it wakes a client that waits. */
  lead(side: ClientSide, socket: string): void {
    this.#sockets.set(side, socket);
    for (const listener of this.#listeners) listener(side, socket);
  }
}
