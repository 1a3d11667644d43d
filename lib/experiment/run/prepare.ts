/** The testbed, within its bound: one that opens too late is closed again. */
import type { Clock } from '../../cluster/clock.ts';
import type { CommonTestbed, TestbedOptions } from '../../cluster/port.ts';
import { describeError } from '../../errors.ts';
import { afterInterrupt, boundsMs, within } from './bounds.ts';

interface Prepared<T> extends Pick<TestbedOptions, 'recorder' | 'onProgress' | 'signal'> {
  readonly clock: Clock;
  readonly open: (options: Pick<TestbedOptions, 'recorder' | 'signal'>) => Promise<T>;
}

/** Rejects as `open` does, or with EvidenceError `GIVEN_UP`. */
export async function prepare<T extends Pick<CommonTestbed, 'close'>>({
  clock,
  open,
  recorder,
  onProgress,
  signal,
}: Prepared<T>): Promise<T> {
  // The testbed keeps the signal, so it is not that of the bound, which ends with it.
  const stop = new AbortController();
  const opening = open({ recorder, signal: AbortSignal.any([signal, stop.signal]) });
  const before = (what: 'prepare' | 'clean-up') => ({
    what,
    deadlineMs: clock.nowMs() + boundsMs[what](),
    interrupt: { signal, ...afterInterrupt[what] },
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
      recorder.record({ type: 'error', where: 'clean-up', message });
      onProgress(message);
    });
    throw error;
  }
}
