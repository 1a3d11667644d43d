/**
 * Which socket leads each client to the database now. The inside client keeps to the victim's side:
 * it dials whatever database pod runs on the node where the first one ran. The outside client
 * follows Ready pods, as behind a proxy: when another one is Ready, its sessions move there.
 */
import type { HistoryRecord } from '../../history/events.ts';
import { observed } from '../../history/observations.ts';
import type { ClientSide } from '../../workload/sql.ts';
import type { Relays } from './relay.ts';

export class Routes {
  readonly #relays: Relays;
  readonly #sockets = new Map<ClientSide, string>();
  readonly #listeners = new Set<(side: ClientSide, socket: string) => void>();
  /** Pod UID → where it runs. */
  readonly #pods = new Map<string, { readonly node: string; readonly ip: string }>();
  #insideNode: string | undefined;

  constructor(relays: Relays) {
    this.#relays = relays;
  }

  get(side: ClientSide): string | undefined {
    return this.#sockets.get(side);
  }

  onChange(listener: (side: ClientSide, socket: string) => void): void {
    this.#listeners.add(listener);
  }

  /** The database as it stands when the run begins. */
  async start(pod: {
    readonly uid: string;
    readonly node: string;
    readonly ip: string;
  }): Promise<void> {
    this.#insideNode = pod.node;
    this.#pods.set(pod.uid, pod);
    await this.#lead('inside', pod);
    await this.#lead('outside', pod);
  }

  /** Follows the API observer's records. Never throws: a route that can't be opened stays as it is. */
  see(record: HistoryRecord): void {
    if (record.type !== 'observation' || record.node === undefined) return;
    const uid = String(record.data['uid']);
    if (record.name === observed.podRunning) {
      const pod = { node: record.node, ip: String(record.data['ip']) };
      this.#pods.set(uid, pod);
      if (pod.node === this.#insideNode) void this.#lead('inside', pod).catch(() => undefined);
    }
    if (record.name === observed.podReady && record.data['ready'] === true) {
      const pod = this.#pods.get(uid);
      if (pod !== undefined) void this.#lead('outside', pod).catch(() => undefined);
    }
  }

  async #lead(side: ClientSide, { node, ip }: { node: string; ip: string }): Promise<void> {
    const socket =
      side === 'inside'
        ? await this.#relays.openInside(node, ip)
        : await this.#relays.openOutside(ip);
    this.#sockets.set(side, socket);
    for (const listener of this.#listeners) listener(side, socket);
  }
}
