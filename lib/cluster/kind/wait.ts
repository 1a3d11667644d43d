/** Waits for a state of the cluster, and says what was seen last when it does not come. */
import pRetry from 'p-retry';
import { InfrastructureError } from '../../errors.ts';

export interface WaitOptions {
  /** What is awaited, for the error: `the pod mysql-0 is Ready`. */
  readonly what: string;
  readonly timeoutMs: number;
  /** Between two looks; default 250. */
  readonly everyMs?: number;
  readonly signal?: AbortSignal | undefined;
  /** A command that shows more, for the error. */
  readonly command?: string;
}

/**
 * Calls `look` until it resolves to something other than a string; a string says what is still
 * missing. Errors of `look` are taken for such answers too: an API server may be away for a while.
 * Throws InfrastructureError `TIMED_OUT` with the last answer.
 */
export async function waitFor<T extends object | true>(
  options: WaitOptions,
  look: () => Promise<T | string>,
): Promise<T> {
  const { what, timeoutMs, everyMs = 250, signal, command } = options;
  let last: unknown = 'nothing was seen';
  try {
    return await pRetry(
      async () => {
        const seen = await look();
        if (typeof seen !== 'string') return seen;
        throw new Error(seen);
      },
      {
        retries: Number.POSITIVE_INFINITY,
        factor: 1,
        minTimeout: everyMs,
        maxTimeout: everyMs,
        maxRetryTime: timeoutMs,
        onFailedAttempt: ({ error }) => {
          last = error;
        },
        ...(signal === undefined ? {} : { signal }),
      },
    );
  } catch (error) {
    signal?.throwIfAborted();
    throw new InfrastructureError(
      'TIMED_OUT',
      `waited ${timeoutMs / 1_000} s in vain until ${what}`,
      { cause: last ?? error, ...(command === undefined ? {} : { command }) },
    );
  }
}
