/** The testbed, within its bound: one that opens too late is closed again. */
import type { Backend, CommonTestbed, TestbedOptions } from '../../cluster/port.ts';
import { describeError } from '../../errors.ts';
import { afterInterrupt, boundsMs, within } from './bounds.ts';

/** Rejects as `open` does, or with EvidenceError `GIVEN_UP`. */
export async function prepare<T extends CommonTestbed>(
  backend: Pick<Backend<T>, 'clock' | 'open'>,
  options: TestbedOptions,
): Promise<T> {
  const { clock } = backend;
  // The testbed keeps the signal, so it is not that of the bound, which ends with it.
  const stop = new AbortController();
  const opening = backend.open({
    ...options,
    signal: AbortSignal.any([options.signal, stop.signal]),
  });
  const before = (what: 'prepare' | 'clean-up') => ({
    what,
    deadlineMs: clock.nowMs() + boundsMs[what](),
    interrupt: { signal: options.signal, ...afterInterrupt[what] },
  });
  try {
    return await within(clock, before('prepare'), () => opening);
  } catch (error) {
    stop.abort(error);
    const closed = async (): Promise<void> => (await opening).close();
    await within(clock, before('clean-up'), closed).catch((left: unknown) => {
      // An opening that failed has said so itself.
      if (left === error) return;
      const message = describeError(left);
      options.recorder.record({ type: 'error', where: 'clean-up', message });
      options.onProgress(message);
    });
    throw error;
  }
}
