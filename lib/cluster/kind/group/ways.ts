/** The ways to the members: which pod is where now, and a relay to each from both sides. */
import type { ClientSide } from '../../../workload/sql.ts';
import type { KubeClients } from '../../../kube.ts';
import type { Relays } from '../clients/relay.ts';
import { memberPods, type MemberPod } from './group-database.ts';

export class MemberWays {
  readonly #clients: KubeClients;
  readonly #relays: Relays;
  readonly #pods = new Map<string, MemberPod>();
  /** By side, node and incarnation of the server. */
  readonly #paths = new Map<string, Promise<string>>();

  constructor(clients: KubeClients, relays: Relays, pods: readonly MemberPod[]) {
    this.#clients = clients;
    this.#relays = relays;
    for (const pod of pods) this.#pods.set(pod.node, pod);
  }

  /** By node. */
  get pods(): ReadonlyMap<string, MemberPod> {
    return this.#pods;
  }

  /** Asks the API again: a server that was started anew may have another address. */
  async refresh(): Promise<void> {
    for (const pod of await memberPods(this.#clients)) this.#pods.set(pod.node, pod);
  }

  /** Path of a socket that leads to the member on that node, from its own side or from outside. */
  path(side: ClientSide, node: string): Promise<string> {
    const pod = this.#pods.get(node);
    if (pod === undefined) return Promise.reject(new Error(`${node} has no member`));
    const key = `${side} ${node} ${pod.incarnation} ${pod.ip}`;
    let path = this.#paths.get(key);
    if (path === undefined) {
      path = this.#relays.open(side, pod);
      this.#paths.set(key, path);
      path.catch(() => this.#paths.delete(key));
    }
    return path;
  }
}
