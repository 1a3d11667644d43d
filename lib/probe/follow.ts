/** What is followed by its name: a pod's log, and the attachments of a volume to a node. */
import { request as requestHttp } from 'node:http';
import { request as requestHttps, type RequestOptions } from 'node:https';
import type { KubeConfig, V1VolumeAttachment } from '@kubernetes/client-node';
import { orMissing, type UserClients } from '../core/index.ts';
import { containerName } from './objects.ts';
import type { AttachmentSeen } from './judge/record.ts';
import { nowMs, pause } from './view.ts';

/** A line and when it came, unix milliseconds of the probe. */
export interface Came {
  readonly line: string;
  readonly atMs: number;
}

interface FollowRequest {
  readonly config: KubeConfig;
  readonly namespace: string;
  readonly pod: string;
  readonly signal: AbortSignal;
}

const againMs = 500;

/**
 * A pod's log as it grows, with the time at which each line came. A broken connection is mended by asking for
 * all of it again: lines have numbers, and are counted once. Ends with the signal, or where the pod is gone.
 */
export function followLog({ config, namespace, pod, signal }: FollowRequest): readonly Came[] {
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
/** After a change was asked for. */
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

  /** End of the first one. */
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

  /** The object as it is now. Throws as the API does. */
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

  /** This very one and no later one. Throws as the API does. */
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
