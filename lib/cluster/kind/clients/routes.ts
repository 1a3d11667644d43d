/**
 * Which socket leads each client to the database now. The inside client keeps to the victim's side:
 * it dials whatever database pod runs on the node where the first one ran. The outside client
 * follows Ready pods, as behind a proxy: when another one is Ready, its sessions move there.
 */
import type { HistoryRecord } from '../../../history/events.ts';
import { observed } from '../../../history/observations.ts';
import type { ClientSide } from '../../../workload/sql.ts';
import { ClientSockets } from './writers.ts';
import type { PodPlace, Relays } from './relay.ts';

export class Routes extends ClientSockets {
  readonly #relays: Relays;
  /** Pod UID → where it runs. */
  readonly #pods = new Map<string, PodPlace>();
  #insideNode: string | undefined;

  constructor(relays: Relays) {
    super();
    this.#relays = relays;
  }

  /** The database as it stands when the run begins. */
  async start(pod: PodPlace & { readonly uid: string }): Promise<void> {
    this.#insideNode = pod.node;
    this.#pods.set(pod.uid, pod);
    await this.#leadTo('inside', pod);
    await this.#leadTo('outside', pod);
  }

  /** Follows the API observer's records. Never throws: a route that can't be opened stays as it is. */
  see(record: HistoryRecord): void {
    if (record.type !== 'observation' || record.node === undefined) return;
    const uid = String(record.data['uid']);
    if (record.name === observed.podRunning) {
      const pod = { node: record.node, ip: String(record.data['ip']) };
      this.#pods.set(uid, pod);
      if (pod.node === this.#insideNode) void this.#leadTo('inside', pod).catch(() => undefined);
    }
    if (record.name === observed.podReady && record.data['ready'] === true) {
      const pod = this.#pods.get(uid);
      if (pod !== undefined) void this.#leadTo('outside', pod).catch(() => undefined);
    }
  }

  async #leadTo(side: ClientSide, pod: PodPlace): Promise<void> {
    this.lead(side, await this.#relays.open(side, pod));
  }
}
