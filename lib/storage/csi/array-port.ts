/**
 * The array as the driver sees it: who has which path to which volume, and what a path may do now.
 * `array-client.ts` speaks to the real one over its socket; tests have one in memory
 * (test/support/fake-array.ts).
 * Every call may be repeated. Errors are InfrastructureErrors with one of `arrayErrorCodes`.
 */
import { z } from 'zod';
import { linkStates, powerLosses, type LinkState } from '../../scenario/index.ts';

export const arrayErrorCodes = [
  /** The path was cut: nothing is ever un-cut. */
  'PATH_CUT',
  /** The path's device is mounted somewhere. */
  'PATH_BUSY',
  /** The loop number serves something else. */
  'LOOP_BUSY',
  /** The path is open for another node, or on another device. */
  'PATH_DIFFERS',
  'NO_SUCH_VOLUME',
  /** Nothing answers at its socket. */
  'NO_ARRAY',
] as const;
export type ArrayErrorCode = (typeof arrayErrorCodes)[number];

/** One way of one node to one volume. A generation is never used twice. */
export interface PathName {
  readonly volume: string;
  readonly generation: number;
}

export interface OpenRequest extends PathName {
  readonly node: string;
  /** Number of the loop device that is to serve it, leased to this cluster. */
  readonly loop: number;
  /** Keep what is written in the log, not only where and when. */
  readonly keepData: boolean;
  /** `ignored`: flushes are acknowledged and make nothing durable. */
  readonly flushes: 'honest' | 'ignored';
}

export interface PathCutRequest extends PathName {
  /** The array cuts by itself that much later; at once without it. */
  readonly afterMs?: number;
  /** For its log, e.g. `fence`. */
  readonly why: string;
}

export interface PowerLossRequest {
  readonly volume: string;
  readonly node: string;
  /** What becomes of writes that were acknowledged and not flushed. */
  readonly unflushed: (typeof powerLosses)[number];
  /** Decides which of them stay, for `reorders` and `tears`. */
  readonly seed: string;
}

export interface LinkRequest {
  /** All its paths, present and later. */
  readonly node: string;
  readonly state: LinkState;
  /** Added to each request while the link passes; 0 without it. */
  readonly delayMs?: number;
}

/** Times are of CLOCK_MONOTONIC, in nanoseconds, which JavaScript numbers hold for 104 days. */
export const pathStatusSchema = z.object({
  volume: z.string(),
  node: z.string(),
  generation: z.number(),
  loop: z.number(),
  /** `/dev/loop128` */
  device: z.string(),
  state: z.enum(['open', 'cut', 'closed']),
  link: z.enum(linkStates),
  /** Requests that wait for the link. */
  held: z.number(),
  reads: z.number(),
  writes: z.number(),
  flushes: z.number(),
  bytesWritten: z.number(),
  bytesRead: z.number(),
  unflushedBytes: z.number(),
  openedNs: z.number(),
  cutNs: z.number().optional(),
  /** When it was closed. */
  closedNs: z.number().optional(),
  /** Since when the link does not pass. */
  linkNs: z.number().optional(),
  /** The loop device serves this path. */
  bound: z.boolean(),
  /** Something has the device mounted, or another loop device lies over it. */
  claimed: z.boolean(),
});
export type PathStatus = z.infer<typeof pathStatusSchema>;

export const powerLossSchema = z.object({
  /** Paths that were cut. */
  paths: z.number(),
  unflushedWrites: z.number(),
  unflushedBytes: z.number(),
  /** How many of the unflushed writes stayed. */
  kept: z.number(),
});
export type PathPowerLoss = z.infer<typeof powerLossSchema>;

export const copiedSchema = z.object({
  /** Bytes that were copied: holes are not. */
  bytes: z.number(),
  /** For how long every path was held. */
  heldMs: z.number(),
});
export type ArrayCopy = z.infer<typeof copiedSchema>;

export interface ArrayPort {
  /** The path's device. The same answer for a path that is open; PATH_CUT where it was cut. */
  open(request: OpenRequest): Promise<{ readonly device: string }>;
  /** PATH_BUSY while it is mounted; by `force` it is cut first and goes with its last unmount. */
  close(request: PathName & { readonly force?: boolean }): Promise<void>;
  /** Each later and each held request is an I/O error, for ever. */
  cut(request: PathCutRequest): Promise<void>;
  losePower(request: PowerLossRequest): Promise<PathPowerLoss>;
  link(request: LinkRequest): Promise<void>;
  /** Status of every path, closed ones too, while the array lives. */
  status(volume?: string): Promise<readonly PathStatus[]>;
  /** Copies the volume as it is at one moment. `to` lies under the shared directory. */
  copy(request: { readonly volume: string; readonly to: string }): Promise<ArrayCopy>;
  ping(): Promise<{ readonly version: string; readonly clockNs: number }>;
}
