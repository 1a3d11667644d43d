/**
 * Follows the group as its clients would: what each member says of it, from outside and from its
 * own node; where a router would send clients; and what readers on both sides get to see.
 */
import type { V1Pod } from '@kubernetes/client-node';
import type { GroupDatabase, MemberClient } from '../../run/index.ts';
import {
  routedPrimary,
  type GroupView,
  guarded,
  clientSides,
  type ClientSide,
  type PodRef,
  type Recorder,
  observed,
} from '../../history/index.ts';
import { type Clock, isReady, type KubeClients } from '../../core/index.ts';
import type { ClientSockets, Relays } from '../clients/writers.ts';
import { selectorOf } from '../labelled.ts';

export interface MemberPod extends PodRef {
  readonly ip: string;
  /** Another one after each start of its container. */
  readonly incarnation: string;
}

/** Those that have an address and run, in the order of their ordinals. */
export async function memberPods(
  { core }: KubeClients,
  group: GroupDatabase,
): Promise<readonly (MemberPod & { readonly ready: boolean })[]> {
  const labelSelector = selectorOf(group);
  const { items } = await core.listNamespacedPod({ namespace: 'default', labelSelector });
  return items
    .flatMap((pod) => memberOf(pod) ?? [])
    .toSorted((a, b) => a.name.localeCompare(b.name));
}

function memberOf({ metadata, spec, status }: V1Pod): (MemberPod & { ready: boolean }) | undefined {
  const { name, uid } = metadata ?? {};
  const node = spec?.nodeName;
  const ip = status?.podIP;
  const [container] = status?.containerStatuses ?? [];
  if (name === undefined || uid === undefined || node === undefined || ip === undefined) {
    return undefined;
  }
  const incarnation = `${uid}/${container?.containerID ?? ''}`;
  return { name, uid, node, ip, incarnation, ready: isReady(status) };
}

export class MemberWays {
  readonly #clients: KubeClients;
  readonly #group: GroupDatabase;
  readonly #relays: Relays;
  readonly #pods = new Map<string, MemberPod>();
  /** By side, node and incarnation of the server. */
  readonly #paths = new Map<string, Promise<string>>();

  constructor(
    clients: KubeClients,
    group: GroupDatabase,
    relays: Relays,
    pods: readonly MemberPod[],
  ) {
    this.#clients = clients;
    this.#group = group;
    this.#relays = relays;
    for (const pod of pods) this.#pods.set(pod.node, pod);
  }

  get pods(): ReadonlyMap<string, MemberPod> {
    return this.#pods;
  }

  /** Asks the API again: a server that was started anew may have another address. */
  async refresh(): Promise<void> {
    for (const pod of await memberPods(this.#clients, this.#group)) this.#pods.set(pod.node, pod);
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

/** Asks as often as the database's own router asks for the members (metadata_cache.ttl, 0.5 s). */
const askEveryMs = 500;
/** A member that does not answer in this time is passed over. */
const answerWithinMs = 1_000;
const refreshEveryMs = 2_000;

export interface GroupWatch extends AsyncDisposable {
  /** The newest views of those that answered their last question. */
  views(side: ClientSide): readonly GroupView[];
}

interface ObserveGroupOptions {
  readonly group: GroupDatabase;
  readonly ways: MemberWays;
  readonly routes: ClientSockets;
  /** Where the inside client and the inside reader stay. */
  readonly insideNode: string;
  readonly clock: Clock;
  readonly recorder: Recorder;
}

export function observeGroup(options: ObserveGroupOptions): GroupWatch {
  const watch = new Watch(options);
  const ended = new AbortController();
  const { group, ways, insideNode } = options;
  const repeat = (everyMs: number, work: () => Promise<void>): Promise<void> =>
    rounds(options, ended.signal, everyMs, work);
  const loops = [
    repeat(refreshEveryMs, () => watch.refresh()),
    ...[...ways.pods.keys()].flatMap((node) =>
      clientSides.map((side) => {
        const client = watch.client(side, () => node, 'root');
        return repeat(askEveryMs, () => watch.ask(side, node, client));
      }),
    ),
    ...clientSides.map((side) => {
      const node = (): string | undefined => (side === 'inside' ? insideNode : watch.routed);
      const client = watch.client(side, node, group.ordinaryUser);
      return repeat(askEveryMs, () => watch.read(side, node, client));
    }),
  ];
  return {
    views: (side) => [...watch.views[side].values()],
    async [Symbol.asyncDispose](): Promise<void> {
      ended.abort(new Error('the observers end'));
      watch.close();
      await Promise.all(loops);
    },
  };
}

class Watch {
  readonly views: Readonly<Record<ClientSide, Map<string, GroupView>>> = {
    inside: new Map(),
    outside: new Map(),
  };
  routed: string | undefined;
  readonly #options: ObserveGroupOptions;
  readonly #clients: MemberClient[] = [];
  /** What was recorded last, by side and node. */
  readonly #said = new Map<string, string>();

  constructor(options: ObserveGroupOptions) {
    this.#options = options;
  }

  client(side: ClientSide, node: () => string | undefined, user: string): MemberClient {
    const path = (): Promise<string> => this.#options.ways.path(side, node() ?? '');
    const client = this.#options.group.memberClient({ path, user, deadlineMs: answerWithinMs });
    this.#clients.push(client);
    return client;
  }

  close(): void {
    for (const client of this.#clients) client.close();
  }

  async refresh(): Promise<void> {
    const { ways, routes, insideNode } = this.#options;
    await ways.refresh().catch(() => undefined);
    const path = await ways.path('inside', insideNode).catch(() => undefined);
    if (path !== undefined) lead(routes, 'inside', path);
  }

  async ask(side: ClientSide, node: string, client: MemberClient): Promise<void> {
    const views = this.views[side];
    try {
      const view = await this.#options.group.view(client);
      views.set(node, view);
      this.#note(side, node, { ...view });
    } catch (error) {
      views.delete(node);
      this.#note(side, node, { error: this.#options.group.codeOf(error) });
    }
    if (side === 'outside') await this.#route();
  }

  async #route(): Promise<void> {
    const { ways, routes, recorder } = this.#options;
    const primary = routedPrimary(this.views.outside.values());
    if (primary === undefined || primary === this.routed) return;
    this.routed = primary;
    const data = {};
    recorder.record({ ...observation, name: observed.routed, node: primary, data });
    const path = await ways.path('outside', primary).catch(() => undefined);
    if (path !== undefined) lead(routes, 'outside', path);
  }

  async read(
    side: ClientSide,
    where: () => string | undefined,
    client: MemberClient,
  ): Promise<void> {
    const node = where();
    if (node === undefined) return;
    const { group, clock, recorder } = this.#options;
    const beganAtMs = clock.nowMs();
    const about = { ...observation, name: observed.ledgerAnswer, node };
    try {
      recorder.record({ ...about, data: { side, beganAtMs, heads: await group.heads(client) } });
    } catch (error) {
      recorder.record({ ...about, data: { side, beganAtMs, error: group.codeOf(error) } });
    }
    // The primary moved while it was asked: the next question goes to the new one.
    if (where() !== node) client.close();
  }

  #note(side: ClientSide, node: string, data: Readonly<Record<string, unknown>>): void {
    const text = JSON.stringify(data);
    const key = `${side} ${node}`;
    if (this.#said.get(key) === text) return;
    this.#said.set(key, text);
    const name = observed.memberView;
    this.#options.recorder.record({ ...observation, name, node, data: { side, ...data } });
  }
}

const observation = { type: 'observation', source: 'group' } as const;

/** Rounds begin `everyMs` apart, or later where one takes longer. Never rejects. */
async function rounds(
  { clock, recorder }: ObserveGroupOptions,
  signal: AbortSignal,
  everyMs: number,
  work: () => Promise<void>,
): Promise<void> {
  const round = guarded(recorder, 'the group', work);
  while (!signal.aborted) {
    const nextMs = clock.nowMs() + everyMs;
    await round();
    await clock.sleep(nextMs - clock.nowMs(), signal).catch(() => undefined);
  }
}

/** Asked each time it looks: a client is told only of what changed. */
function lead(routes: ClientSockets, side: ClientSide, path: string): void {
  if (routes.get(side) !== path) routes.lead(side, path);
}
