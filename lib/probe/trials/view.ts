/**
 * What is in the probe's namespace, looked at again and again by one loop for all trials: pods, claims
 * and events. It asks for this namespace only.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CoreV1Event, V1PersistentVolumeClaim, V1Pod } from '@kubernetes/client-node';
import { describeError, InfrastructureError } from '../../errors.ts';
import { answered, kubectl } from '../../user-cluster.ts';
import type { ProbeClients } from '../clients.ts';
import type { EventSeen, PodSeen } from './record.ts';

export const nowMs = (): number => performance.timeOrigin + performance.now();

const lookEveryMs = 400;
/** A cluster whose API is away for longer gives no evidence. */
const blindMs = 60_000;

export class View {
  readonly #clients: ProbeClients;
  readonly #namespace: string;
  readonly #signal: AbortSignal;
  readonly #pods = new Map<string, { pod: V1Pod; seen: PodSeen }>();
  readonly #looks = new Set<() => void>();
  claims: readonly V1PersistentVolumeClaim[] = [];
  events: readonly EventSeen[] = [];
  #failed: unknown;

  constructor(clients: ProbeClients, namespace: string, signal: AbortSignal) {
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
      for (const look of this.#looks) look();
      await sleep(lookEveryMs, undefined, { signal: this.#signal }).catch(() => undefined);
    }
    for (const look of this.#looks) look();
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

  /**
   * What `look` finds, at each look of the loop; a string says what is still missing. Throws
   * InfrastructureError `TRIAL_TIMED_OUT` with the last of them, and as `answered` does.
   */
  async until<T extends object | true>(
    { what, timeoutMs }: { readonly what: string; readonly timeoutMs: number },
    look: () => T | string,
  ): Promise<T> {
    const endMs = nowMs() + timeoutMs;
    for (;;) {
      this.#signal.throwIfAborted();
      if (this.#failed !== undefined) {
        await answered(this.#clients, 'watched the trials', Promise.reject(this.#failed));
      }
      const seen = look();
      if (typeof seen !== 'string') return seen;
      if (nowMs() >= endMs) {
        const message = `waited ${timeoutMs / 1000} s in vain until ${what}: ${seen}`;
        throw new InfrastructureError('TRIAL_TIMED_OUT', message, {
          hint: 'read the events of the namespace while the probe runs',
          command: kubectl(this.#clients, `get events -n ${this.#namespace}`),
        });
      }
      await this.#nextLook(endMs - nowMs());
    }
  }

  #nextLook(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#looks.delete(done);
        resolve();
      };
      const timer = setTimeout(done, Math.max(0, withinMs));
      this.#looks.add(done);
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
      const isRunning = pod.status?.containerStatuses?.[0]?.state?.running !== undefined;
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

/** The namespace is looked at while `work` does what it does, to the end of that or of the signal. */
export async function whileLooking<T>(
  clients: ProbeClients,
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

const eventSeen = (event: CoreV1Event): EventSeen => ({
  reason: event.reason ?? '',
  message: event.message ?? '',
  pod: event.involvedObject.name ?? '',
  atMs:
    (event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp)?.getTime() ?? 0,
});

/** No image, or no such program in it: the latter may be told before the start, or as the end of it. */
const vain =
  /^(ImagePullBackOff|ErrImagePull|InvalidImageName|(Create|Run)Container(Config)?Error|StartError|ContainerCannotRun)$/;

/** Why its program never began, in Kubernetes' words; undefined where it may have. */
export function unstartable({ status }: V1Pod): string | undefined {
  const { waiting, terminated } = status?.containerStatuses?.[0]?.state ?? {};
  const { reason = '', message = '' } = waiting ?? terminated ?? {};
  return vain.test(reason) ? `${reason}: ${message}` : undefined;
}

/** Why a pod can't ever run; undefined where it may. */
export function vainPod(pod: V1Pod): string | undefined {
  const ended = pod.status?.containerStatuses?.[0]?.state?.terminated;
  return unstartable(pod) ?? (ended === undefined ? undefined : `it ended with ${ended.exitCode}`);
}

/** Throws InfrastructureError `PROBE_POD` with what `whyNot` says of it. */
export function mustStart(name: string, pod: V1Pod | undefined, whyNot = vainPod): void {
  const why = pod === undefined ? undefined : whyNot(pod);
  if (why === undefined) return;
  throw new InfrastructureError('PROBE_POD', `the pod ${name} does not start: ${why}`, {
    hint: 'name an image with Node 20 or later with --image; a cut needs nsenter in it, too',
  });
}

export const whyOf = (error: unknown): string => describeError(error).split('\n')[0] ?? '';
