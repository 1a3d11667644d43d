/** What a writer process and its parent say to each other (IPC, JSON). */
import type { SegmentList } from '../../../history/events.ts';
import type { ServerIdentity } from '../../../workload/sql.ts';
import type { WriterSpec } from '../../../workload/port.ts';

/** First message to the process: all that it needs. */
export interface StartMessage {
  readonly type: 'start';
  readonly spec: WriterSpec;
  /** See WriterOptions. */
  readonly transferEvery: number;
  /** The run's seed. */
  readonly seed: string;
  /** Directory and name of this process's segment of the history. */
  readonly directory: string;
  readonly segment: string;
  /** CLOCK_MONOTONIC at the run's beginning, nanoseconds, as text since JSON has no bigint. */
  readonly originNs: string;
}

export type ToWriter =
  | StartMessage
  /** The way to the database from now on; null: there is none, so wait for one. */
  | { readonly type: 'route'; readonly socketPath: string | null }
  /** Change the schema, once, while everything else goes on. */
  | { readonly type: 'change-schema' }
  /** Finish what is under way and exit with 0. */
  | { readonly type: 'stop' };

/** Acknowledged operations so far, by node that acknowledged. */
export interface CountsMessage {
  readonly type: 'counts';
  readonly acked: Readonly<Record<ServerIdentity['node'], number>>;
}

export type FromWriter =
  | CountsMessage
  /** The last message: the segments that the process has ended. */
  | { readonly type: 'written'; readonly segments: SegmentList };
