/**
 * What is in the probe's namespace, looked at again and again by one loop for all trials: pods, claims
 * and events. It asks for this namespace only.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  CoreV1Event,
  V1ContainerState,
  V1PersistentVolumeClaim,
  V1Pod,
} from '@kubernetes/client-node';
import { describeError, type UserClients, answered } from '../core/index.ts';
import type { EventSeen, PodSeen } from './judge/record.ts';
import { refusal } from './refusals.ts';

export const nowMs = (): number => performance.timeOrigin + performance.now();
export const whyOf = (error: unknown): string => describeError(error).split('\n')[0] ?? '';

interface Patience {
  readonly timeoutMs: number;
  readonly everyMs?: number;
  readonly signal?: AbortSignal;
  /** What is thrown once the time is over, from the last look. */
  readonly late: (missing: string) => Error;
}

/** What `look` finds; a string says what is still missing. Throws the signal's reason, and as `look` does. */
export async function poll<T extends object | number | true>(
  { timeoutMs, everyMs = 500, signal, late }: Patience,
  look: () => T | string | Promise<T | string>,
): Promise<T> {
  for (const endMs = nowMs() + timeoutMs; ; ) {
    signal?.throwIfAborted();
    const seen = await look();
    if (typeof seen !== 'string') return seen;
    const leftMs = endMs - nowMs();
    if (leftMs <= 0) throw late(seen);
    await pause(Math.min(everyMs, leftMs), signal);
  }
}

/** Ends with the signal, too. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  sleep(Math.max(0, ms), undefined, signal && { signal }).catch(() => undefined);

const lookEveryMs = 400;
/** A cluster whose API is away for longer gives no evidence. */
const blindMs = 60_000;

export class View {
  readonly #clients: UserClients;
  readonly #namespace: string;
  readonly #signal: AbortSignal;
  readonly #pods = new Map<string, { pod: V1Pod; seen: PodSeen }>();
  claims: readonly V1PersistentVolumeClaim[] = [];
  events: readonly EventSeen[] = [];
  #failed: unknown;

  constructor(clients: UserClients, namespace: string, signal: AbortSignal) {
    this.#clients = clients;
    this.#namespace = namespace;
    this.#signal = signal;
  }

  /** Looks until the signal comes. Never throws: who waits hears what went wrong. */
  async run(): Promise<void> {
    let sawMs = nowMs();
    while (!this.#signal.aborted) {
      try {
        await this.#look();
        sawMs = nowMs();
        this.#failed = undefined;
      } catch (error) {
        if (nowMs() - sawMs > blindMs) this.#failed = error;
      }
      await pause(lookEveryMs, this.#signal);
    }
  }

  /** Pod as it was last seen, also one that is gone. */
  pod(name: string): { readonly pod: V1Pod; readonly seen: PodSeen } | undefined {
    return this.#pods.get(name);
  }

  claim(name: string): V1PersistentVolumeClaim | undefined {
    return this.claims.find(({ metadata }) => metadata?.name === name);
  }

  eventsOf(name: string): readonly EventSeen[] {
    return this.events.filter(({ pod }) => pod === name);
  }

  /** As `poll`. Throws InfrastructureError `TRIAL_TIMED_OUT`, and as `answered` does. */
  until<T extends object | true>(
    { what, timeoutMs }: { readonly what: string; readonly timeoutMs: number },
    look: () => T | string,
  ): Promise<T> {
    const late = (missing: string): Error =>
      refusal('TRIAL_TIMED_OUT', `waited ${timeoutMs / 1000} s in vain until ${what}: ${missing}`, {
        at: this.#clients,
        look: `get events -n ${this.#namespace}`,
      });
    return poll({ timeoutMs, everyMs: lookEveryMs / 2, signal: this.#signal, late }, async () => {
      if (this.#failed !== undefined) {
        await answered(this.#clients, 'watched the trials', Promise.reject(this.#failed));
      }
      return look();
    });
  }

  async #look(): Promise<void> {
    const { core } = this.#clients;
    const namespace = this.#namespace;
    const [pods, claims, events] = await Promise.all([
      core.listNamespacedPod({ namespace }),
      core.listNamespacedPersistentVolumeClaim({ namespace }),
      core.listNamespacedEvent({ namespace }),
    ]);
    this.claims = claims.items;
    this.events = events.items.map(eventSeen);
    this.#seePods(pods.items);
  }

  #seePods(pods: readonly V1Pod[]): void {
    const atMs = nowMs();
    const names = new Set(pods.map(({ metadata }) => metadata?.name ?? ''));
    for (const pod of pods) {
      const name = pod.metadata?.name ?? '';
      const before = this.#pods.get(name)?.seen ?? {
        node: pod.spec?.nodeName ?? '',
        createdMs: pod.metadata?.creationTimestamp?.getTime() ?? atMs,
      };
      const isRunning = stateOf(pod)?.running !== undefined;
      const running = isRunning && before.runningMs === undefined ? { runningMs: atMs } : {};
      const node = pod.spec?.nodeName ?? before.node;
      this.#pods.set(name, { pod, seen: { ...before, ...running, node } });
    }
    for (const [name, { pod, seen }] of this.#pods) {
      if (names.has(name) || seen.goneMs !== undefined) continue;
      this.#pods.set(name, { pod, seen: { ...seen, goneMs: atMs } });
    }
  }
}

const eventSeen = (event: CoreV1Event): EventSeen => ({
  reason: event.reason ?? '',
  message: event.message ?? '',
  pod: event.involvedObject.name ?? '',
  atMs:
    (event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp)?.getTime() ?? 0,
});

/** Words for what has not come to it yet. */
export function lastEvent(view: Pick<View, 'eventsOf'>, ...of: readonly string[]): string {
  const last = of.map((name) => view.eventsOf(name).at(-1)).find((event) => event !== undefined);
  return last === undefined ? 'no event yet' : `${last.reason}: ${last.message}`;
}

/** The namespace is looked at while `work` does what it does, to the end of that or of the signal. */
export async function whileLooking<T>(
  clients: UserClients,
  namespace: string,
  asked: readonly AbortSignal[],
  work: (seeing: { readonly view: View; readonly signal: AbortSignal }) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, ...asked]);
  const view = new View(clients, namespace, signal);
  const looked = view.run();
  try {
    return await work({ view, signal });
  } finally {
    over.abort();
    await looked;
  }
}

export const stateOf = ({ status }: V1Pod): V1ContainerState | undefined =>
  status?.containerStatuses?.[0]?.state;

/** No image, or no such program in it: the latter may be told before the start, or as the end of it. */
const vain =
  /^(ImagePullBackOff|ErrImagePull|InvalidImageName|(Create|Run)Container(Config)?Error|StartError|ContainerCannotRun)$/;

/**
 * Throws InfrastructureError `PROBE_POD` for a pod whose program never began, in Kubernetes' words, or that has
 * ended where it `livesOn`.
 */
export function mustStart(name: string, pod: V1Pod | undefined, livesOn = true): void {
  const { waiting, terminated } = (pod && stateOf(pod)) ?? {};
  const { reason = '', message = '' } = waiting ?? terminated ?? {};
  const isVain = vain.test(reason);
  if (!isVain && (!livesOn || terminated === undefined)) return;
  const why = isVain ? `${reason}: ${message}` : `it ended with ${terminated?.exitCode}`;
  throw refusal('PROBE_POD', `the pod ${name} does not start: ${why}`);
}
