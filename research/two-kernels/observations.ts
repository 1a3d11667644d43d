/** Names that a case gives to what it sees, beside those of any run (lib/history/observations.ts). */
import type { BareStarted } from '../../lib/run/index.ts';

export const labObserved = {
  // source `lab`. A step of the schedule begins. data.step; data.acked, data.bytesWritten: by side, so far
  step: 'step',
  // How a side got the volume and served. data: Served
  served: 'served',
  // data.unflushedBytes: acknowledged by the array, not flushed, and dropped
  powerLost: 'power-lost',
  // data.lines: of errors in a side's log; null where the machine was gone
  errorLog: 'error-log',
} as const;

export interface LabServed extends Omit<BareStarted, 'startMs'> {
  readonly fsckExitCode: number;
  readonly fsck: string;
  readonly mounted: boolean;
  readonly mountError: string | null;
  /** Null where no server was started. */
  readonly startMs: number | null;
}
