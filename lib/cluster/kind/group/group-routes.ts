/**
 * Which socket leads each client to the group. The inside client stays at the first primary; the
 * outside one goes where a router sends it: to the primary that a majority of members names.
 */
import type { ClientSide } from '../../../workload/sql.ts';
import type { WriterRoutes } from '../writers.ts';

export class GroupRoutes implements WriterRoutes {
  readonly #sockets = new Map<ClientSide, string>();
  readonly #listeners = new Set<(side: ClientSide, socket: string) => void>();

  get(side: ClientSide): string | undefined {
    return this.#sockets.get(side);
  }

  onChange(listener: (side: ClientSide, socket: string) => void): void {
    this.#listeners.add(listener);
  }

  lead(side: ClientSide, socket: string): void {
    if (this.#sockets.get(side) === socket) return;
    this.#sockets.set(side, socket);
    for (const listener of this.#listeners) listener(side, socket);
  }
}
