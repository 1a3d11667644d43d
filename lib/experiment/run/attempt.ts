/** A step of a run whose failure ends in the history, and not the run. */
import type { Recorder } from '../../cluster/port.ts';
import { describeError } from '../../errors.ts';

/** Resolves to whether the work was done. */
export type Attempt = (where: string, work: () => Promise<unknown>) => Promise<boolean>;

/** `onFailure`: hears of each. Default: only the history does. */
export const attempting =
  (recorder: Recorder, onFailure?: (where: string, message: string) => void): Attempt =>
  async (where, work) => {
    try {
      await work();
      return true;
    } catch (error) {
      const message = describeError(error);
      recorder.record({ type: 'error', where, message });
      onFailure?.(where, message);
      return false;
    }
  };
