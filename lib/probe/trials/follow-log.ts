/**
 * Follows a pod's log through the API, line by line, with the time at which each line came. A broken
 * connection is mended by asking for all of it again: lines have numbers, and are counted once.
 */
import { request as requestHttp } from 'node:http';
import { request as requestHttps, type RequestOptions } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeConfig } from '@kubernetes/client-node';
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
  const { namespace, pod, signal } = request;
  const path = `/api/v1/namespaces/${namespace}/pods/${pod}/log?follow=true&container=${containerName}`;
  const following = async (): Promise<void> => {
    while (!signal.aborted) {
      const status = await readLines(request, path, onLine).catch(() => 0);
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

export interface ClockOffset {
  /** Added to the node's time: the probe's, too late by no more than `errorMs`. */
  readonly offsetMs: number;
  readonly errorMs: number;
}

/**
 * From lines of the kind `<number> ack <seq> <begun> <took>`: none can come before it was written, so
 * the fastest one tells most. Its way is taken for `errorMs`: half a second where nothing bounds it.
 */
export function clockOffsetOf(lines: readonly Came[], errorMs = 250): ClockOffset | undefined {
  const offsets = lines.flatMap(({ line, atMs }) => {
    const [, word, , begun, took] = line.split(' ');
    const writtenMs = Number(begun) + Number(took);
    return word === 'ack' && Number.isFinite(writtenMs) ? [atMs - writtenMs] : [];
  });
  if (offsets.length === 0) return undefined;
  return { offsetMs: Math.min(...offsets), errorMs };
}

/** A log or a watch, line by line. Resolves to the HTTP status once the answer has ended; rejects with the connection or the signal. */
async function readLines(
  { config, signal }: Pick<FollowRequest, 'config' | 'signal'>,
  path: string,
  onLine: (line: string) => void,
): Promise<number> {
  const server = config.getCurrentCluster()?.server ?? '';
  const url = new URL(server.replace(/\/$/, '') + path);
  const options: RequestOptions = { signal };
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
