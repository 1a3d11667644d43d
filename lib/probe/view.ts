/**
 * What is looked at: pods, claims and events of the probe's namespace, by one loop for all trials and of this namespace
 * only; and by their names a pod's log, and the attachments of a volume to a node.
 */
import { request as requestHttp } from 'node:http';
import { request as requestHttps, type RequestOptions } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  CoreV1Event,
  KubeConfig,
  V1ContainerState,
  V1PersistentVolumeClaim,
  V1Pod,
  V1VolumeAttachment,
} from '@kubernetes/client-node';
import { answered, describeError, orMissing, type UserClients } from '../core/index.ts';
import type { AttachmentSeen, EventSeen, PodSeen } from './judge/record.ts';
import { containerName } from './objects.ts';
import { refusal } from './refusals.ts';

export const nowMs = (): number => performance.timeOrigin + performance.now();
export const whyOf = (error: unknown): string => describeError(error).split('\n')[0] ?? '';

/** What `look` finds; a string says what is still missing, and is what `late` is thrown with once the time is over. Throws the signal's reason, and as `look` does. */
export async function poll<T extends object | number | true>(
  {
    timeoutMs,
    everyMs = 500,
    signal,
    late,
  }: {
    readonly timeoutMs: number;
    readonly everyMs?: number;
    readonly signal?: AbortSignal;
    readonly late: (missing: string) => Error;
  },
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

export function lastEvent(view: Pick<View, 'eventsOf'>, ...of: readonly string[]): string {
  const last = of.map((name) => view.eventsOf(name).at(-1)).find((event) => event !== undefined);
  return last === undefined ? 'no event yet' : `${last.reason}: ${last.message}`;
}

/** Throws InfrastructureError `PROBE_POD`, and as `View.until`. `others`: whose events may say why it does not run. */
export const untilRunning = (
  view: View,
  pod: string,
  timeoutMs: number,
  ...others: readonly string[]
): Promise<true> =>
  view.until({ what: `the pod ${pod} runs`, timeoutMs }, () => {
    const found = view.pod(pod);
    if (found?.seen.runningMs !== undefined) return true;
    mustStart(pod, found?.pod);
    return lastEvent(view, pod, ...others);
  });

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

export interface Came {
  readonly line: string;
  readonly atMs: number;
}

const againMs = 500;

/**
 * A pod's log as it grows, with the time at which each line came. A broken connection is mended by asking for
 * all of it again: lines have numbers, and are counted once. Ends with the signal, or where the pod is gone.
 */
export function followLog(
  { config }: Pick<UserClients, 'config'>,
  { namespace, pod, signal }: { namespace: string; pod: string; signal: AbortSignal },
): readonly Came[] {
  const lines: Came[] = [];
  const seen = new Set<string>();
  const onLine = (line: string): void => {
    if (line === '' || seen.has(line)) return;
    seen.add(line);
    lines.push({ line, atMs: nowMs() });
  };
  const path = `/api/v1/namespaces/${namespace}/pods/${pod}/log?follow=true&container=${containerName}`;
  const following = async (): Promise<void> => {
    while (!signal.aborted) {
      const status = await readLines(config, path, { signal }, onLine).catch(() => 0);
      // Gone with its pod.
      if (status === 404) return;
      await pause(againMs, signal);
    }
  };
  void following();
  return lines;
}

/** Resolves to the HTTP status once the answer has ended; rejects with the connection or the signal. */
async function readLines(
  config: KubeConfig,
  path: string,
  options: RequestOptions,
  onLine: (line: string) => void,
): Promise<number> {
  const server = config.getCurrentCluster()?.server ?? '';
  const url = new URL(server.replace(/\/$/, '') + path);
  await config.applyToHTTPSOptions(options);
  const request = url.protocol === 'http:' ? requestHttp : requestHttps;
  return new Promise((resolve, reject) => {
    const asked = request(url, options, (response) => {
      const status = response.statusCode ?? 0;
      let rest = '';
      response.setEncoding('utf8');
      response.on('data', (text: string) => {
        if (status !== 200) return;
        const whole = (rest + text).split('\n');
        rest = whole.pop() ?? '';
        whole.forEach(onLine);
      });
      response.once('error', reject);
      response.once('close', () => resolve(status));
    });
    asked.once('error', reject);
    asked.end();
  });
}

/**
 * Added to the node's time: the probe's, too late by no more than `clockErrorMs`. From lines of the kind
 * `<number> ack <seq> <begun> <took>`: none can come before it was written, so the fastest one tells most.
 */
export function clockOffsetOf(lines: readonly Came[]): number | undefined {
  const offsets = lines.flatMap(({ line, atMs }) => {
    const [, word, , begun, took] = line.split(' ');
    const writtenMs = Number(begun) + Number(took);
    return word === 'ack' && Number.isFinite(writtenMs) ? [atMs - writtenMs] : [];
  });
  return offsets.length === 0 ? undefined : Math.min(...offsets);
}

/** The way of the fastest line: half a second where nothing bounds it. */
export const clockErrorMs = 250;

/** While something is about to change, and else. */
const closeMs = 250;
const calmMs = 500;
const closeForMs = 15_000;

/** Until when one was there, and when it was first seen to be gone. */
interface End {
  readonly thereUntilMs: number;
  readonly goneMs: number;
}

/** Watches one attachment by its name, of which Kubernetes makes a new one after each end. */
export class AttachmentWatch {
  readonly #storage: UserClients['storage'];
  readonly #signal: AbortSignal;
  readonly name: string;
  #closeUntilMs = 0;
  /** The last look that found none began then. */
  #absentMs = 0;
  readonly #ends = new Map<string, End>();
  seen: readonly AttachmentSeen[] = [];

  constructor({ storage }: UserClients, name: string, signal: AbortSignal) {
    this.#storage = storage;
    this.name = name;
    this.#signal = signal;
    void this.#run();
  }

  get firstEnd(): End | undefined {
    return this.#ends.get(this.seen[0]?.uid ?? '');
  }

  /** A look that fails is one that was not made. */
  async #run(): Promise<void> {
    while (!this.#signal.aborted) {
      await this.look().catch(() => undefined);
      await pause(nowMs() < this.#closeUntilMs ? closeMs : calmMs, this.#signal);
    }
  }

  async look(): Promise<V1VolumeAttachment | undefined> {
    const askedMs = nowMs();
    const found = await orMissing(this.#storage.readVolumeAttachment({ name: this.name }));
    const atMs = nowMs();
    const last = this.seen.at(-1);
    const isSame = found !== undefined && last?.uid === found.metadata?.uid;
    if (last !== undefined && !isSame && !this.#ends.has(last.uid)) {
      this.#ends.set(last.uid, { thereUntilMs: last.lastSeenMs, goneMs: atMs });
    }
    if (found === undefined) {
      this.#absentMs = askedMs;
      return undefined;
    }
    const before = isSame ? last : undefined;
    // It was there when it was asked for, at the earliest.
    const missed = before === undefined && this.#absentMs > 0 ? { waitedMs: this.#absentMs } : {};
    const seen = { ...missed, ...noted(before, found, atMs, askedMs), lastSeenMs: askedMs };
    this.seen = [...this.seen.filter(({ uid }) => uid !== seen.uid), seen];
    return found;
  }

  async remove(
    uid: string,
  ): Promise<{ readonly deleteAskedMs: number; readonly deleteAnsweredMs: number }> {
    const deleteAskedMs = nowMs();
    this.#closeUntilMs = deleteAskedMs + closeForMs;
    const body = { preconditions: { uid } };
    await this.#storage.deleteVolumeAttachment({ name: this.name, body });
    return { deleteAskedMs, deleteAnsweredMs: nowMs() };
  }
}

function noted(
  before: AttachmentSeen | undefined,
  { metadata, status }: V1VolumeAttachment,
  atMs: number,
  askedMs: number,
): AttachmentSeen {
  const { attachError, detachError, attached } = status ?? {};
  const seen = before ?? { uid: metadata?.uid ?? '', firstSeenMs: atMs, lastSeenMs: atMs };
  const attachedMs = seen.attachedMs ?? (attached === true ? atMs : undefined);
  return {
    ...seen,
    ...(attachedMs === undefined ? { waitedMs: askedMs } : { attachedMs }),
    ...(metadata?.deletionTimestamp === undefined
      ? { unaskedMs: askedMs }
      : { deletingMs: seen.deletingMs ?? atMs }),
    ...(attachError?.message === undefined ? {} : { attachError: attachError.message }),
    ...(detachError?.message === undefined ? {} : { detachError: detachError.message }),
  };
}
