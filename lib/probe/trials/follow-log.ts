/**
 * Follows a pod's log through the API, line by line, with the time at which each line came. A broken
 * connection is mended by asking for all of it again: lines have numbers, and are counted once.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeConfig } from '@kubernetes/client-node';
import { readLines } from './api-lines.ts';
import { containerName } from './objects.ts';

/** A line and when it came, unix milliseconds of the probe. */
export interface Came {
  readonly line: string;
  readonly atMs: number;
}

export interface Followed {
  readonly lines: readonly Came[];
  /** Undefined while it is followed; why nothing comes any more. */
  readonly over: string | undefined;
}

export interface FollowRequest {
  readonly config: KubeConfig;
  readonly namespace: string;
  readonly pod: string;
  readonly signal: AbortSignal;
}

const againMs = 500;

/** The log as it grows. Ends with the signal, or where the pod is gone. Never throws. */
export function followLog(request: FollowRequest): Followed {
  const lines: Came[] = [];
  const followed = { lines, over: undefined as string | undefined };
  const seen = new Set<string>();
  const onLine = (line: string): void => {
    if (line === '' || seen.has(line)) return;
    seen.add(line);
    lines.push({ line, atMs: performance.timeOrigin + performance.now() });
  };
  const { config, namespace, pod, signal } = request;
  const path = `/api/v1/namespaces/${namespace}/pods/${pod}/log?follow=true&container=${containerName}`;
  const following = async (): Promise<void> => {
    while (!signal.aborted) {
      const status = await readLines({ config, path, signal }, onLine).catch(() => 0);
      // Gone with its pod.
      if (status === 404) {
        followed.over = 'the pod is gone';
        return;
      }
      await sleep(againMs, undefined, { signal });
    }
  };
  following()
    .catch(() => undefined)
    .finally(() => (followed.over ??= 'not followed any more'));
  return followed;
}

export interface Clock {
  /** Added to the node's time: the probe's, too late by no more than `errorMs`. */
  readonly offsetMs: number;
  readonly errorMs: number;
}

/**
 * From lines of the kind `<number> ack <seq> <begun> <took>`: none can come before it was written, so
 * the fastest one tells most. Its way is taken for `errorMs`: half a second where nothing bounds it.
 */
export function clockOf(lines: readonly Came[], errorMs = 250): Clock | undefined {
  const offsets = lines.flatMap(({ line, atMs }) => {
    const [, word, , begun, took] = line.split(' ');
    const writtenMs = Number(begun) + Number(took);
    return word === 'ack' && Number.isFinite(writtenMs) ? [atMs - writtenMs] : [];
  });
  if (offsets.length === 0) return undefined;
  return { offsetMs: Math.min(...offsets), errorMs };
}
