/** A step of a run whose failure ends in the history, and not the run. */
import type { Recorder } from '../cluster/port.ts';
import { describeError } from '../errors.ts';

/** Resolves to whether the work was done. */
export type Attempt = (where: string, work: () => Promise<unknown>) => Promise<boolean>;

export const attempting =
  (recorder: Recorder): Attempt =>
  async (where, work) => {
    try {
      await work();
      return true;
    } catch (error) {
      recorder.record({ type: 'error', where, message: describeError(error) });
      return false;
    }
  };
