/** Waits for a state of the cluster, and says what was seen last when it does not come. */
import { setTimeout as sleep } from 'node:timers/promises';
import { InfrastructureError } from './errors.ts';

export interface WaitForOptions {
  /** What is awaited, for the error: `the pod is Ready`. */
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
 * A look that never ends is left alone at the time's end or the abort: each call has its own end.
 * Throws InfrastructureError `TIMED_OUT` with the last answer.
 */
export async function waitFor<T extends object | true>(
  options: WaitForOptions,
  look: () => Promise<T | string>,
): Promise<T> {
  const { what, timeoutMs, everyMs = 250, signal, command } = options;
  const over = new AbortController();
  const asked = signal === undefined ? over.signal : AbortSignal.any([signal, over.signal]);
  let last: unknown = new Error('nothing was observed');
  const late = async (): Promise<never> => {
    // A timer that holds the process, as whoever waits wants to hear.
    await sleep(timeoutMs, undefined, { signal: asked });
    const message = `timed out after ${timeoutMs / 1_000} s: waiting until ${what}`;
    const detail = { cause: last, ...(command === undefined ? {} : { command }) };
    throw new InfrastructureError('TIMED_OUT', message, detail);
  };
  const looking = async (): Promise<T> => {
    for (;;) {
      try {
        const seen = await look();
        if (typeof seen !== 'string') return seen;
        last = new Error(seen);
      } catch (error) {
        last = error;
      }
      await sleep(everyMs, undefined, { signal: asked });
    }
  };
  try {
    signal?.throwIfAborted();
    return await Promise.race([looking(), late()]);
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    over.abort();
  }
}
