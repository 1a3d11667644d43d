/** The port to a run's history: whoever sees or does something has it recorded. */
import type { HistoryRecord, RowRecord } from './events.ts';

/** Where everything that is seen or done is recorded. Records are stamped by the recorder. */
export interface Recorder {
  record(record: Unstamped | RowRecord): void;
  /** Hears of every record but operations and rows from now on; returns what ends it. */
  subscribe(listener: (record: HistoryRecord) => void): () => void;
}
type WithoutStamp<T> = T extends { t: number } ? Omit<T, 't' | 'wall'> : never;
/** A record before the recorder stamps it; an observer that knows better may stamp it itself. */
export type Unstamped = WithoutStamp<HistoryRecord> & {
  readonly t?: number;
  readonly wall?: number;
};
