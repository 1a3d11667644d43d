/**
 * The client of the array (lib/storage/csi/array): one JSON object a line each way over its UNIX socket.
 * Each call is a connection of its own, so calls share nothing and none waits for another.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { linkStates, powerLosses, type LinkState } from '../../scenario/index.ts';
import { InfrastructureError } from '../../core/index.ts';

/*
 * The array as the driver sees it: who has which path to which volume, and what a path may do now.
 * `array-client.ts` speaks to the real one over its socket; tests have one in memory
 * (test/support/fake-array.ts).
 * Every call may be repeated. Errors are InfrastructureErrors with one of `arrayErrorCodes`.
 */

const arrayErrorCodes = [
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
  /** Who serves it, where that is not the array's own device. */
  readonly transport?: string | undefined;
  /** How the node's initiator connects, as qemu-storage-daemon reads it. Absent: the device is the array's own. */
  readonly connect?: string | undefined;
}

export interface PathCutRequest extends PathName {
  /** The array cuts by itself that much later; at once without it. */
  readonly afterMs?: number;
  /** For its log, e.g. `fence`. */
  readonly why: string;
  /** Default: `cut`: by the array itself. */
  readonly how?: string;
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
  /** The node's client watches the image, as the server has it; absent where the server has no watches. */
  watches: z.boolean().optional(),
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

const copiedSchema = z.object({
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
  /** Each later and each held request is an I/O error, for ever; unless `how` is something else. */
  cut(request: PathCutRequest): Promise<void>;
  losePower(request: PowerLossRequest): Promise<PathPowerLoss>;
  link(request: LinkRequest): Promise<void>;
  /** Status of every path, closed ones too, while the array lives. */
  status(volume?: string): Promise<readonly PathStatus[]>;
  /** Copies the volume as it is at one moment. `to` lies under the shared directory. */
  copy(request: { readonly volume: string; readonly to: string }): Promise<ArrayCopy>;
  ping(): Promise<{ readonly version: string; readonly clockNs: number }>;
}

interface ArrayClientOptions {
  /** Limit of every call but a copy. Default: 20 s: an initiator that is cut off is waited for. */
  readonly timeoutMs?: number;
  /** Limit of a copy. Default: 5 minutes. */
  readonly copyTimeoutMs?: number;
}

/** Where a call's answer says nothing but that it is done. */
const done = z.object({}).transform(() => undefined);

/**
 * Nothing is connected until a call is made. Beyond the array's own errors, calls throw
 * NO_ARRAY, ARRAY_TIMEOUT and ARRAY_STRANGE.
 */
export function arrayAt(socketPath: string, options: ArrayClientOptions = {}): ArrayPort {
  const { timeoutMs = 20_000, copyTimeoutMs = 300_000 } = options;
  const call = async <T>(
    request: { readonly do: string },
    answer: z.ZodType<T>,
    timeout = timeoutMs,
  ): Promise<T> => checked(request.do, await exchange(socketPath, request, timeout), answer);
  return {
    open: (request) => call({ do: 'open', ...request }, z.object({ device: z.string() })),
    close: (request) => call({ do: 'close', ...request }, done),
    cut: (request) => call({ do: 'cut', ...request }, done),
    losePower: (request) => call({ do: 'losePower', ...request }, powerLossSchema),
    link: (request) => call({ do: 'link', ...request }, done),
    status: async (volume) => {
      const answer = z.object({ paths: z.array(pathStatusSchema) });
      return (await call({ do: 'status', ...(volume !== undefined && { volume }) }, answer)).paths;
    },
    copy: (request) => call({ do: 'copy', ...request }, copiedSchema, copyTimeoutMs),
    ping: () => call({ do: 'ping' }, z.object({ version: z.string(), clockNs: z.number() })),
  };
}

/** A request of the array or of a node's initiator that the driver has no use for; its answer says that it is done. */
export const askOf = async (
  socketPath: string,
  request: Readonly<Record<string, string | number>> & { readonly do: string },
): Promise<void> => checked(request.do, await exchange(socketPath, request, 20_000), done);

const failureSchema = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

function checked<T>(what: string, line: unknown, answer: z.ZodType<T>): T {
  const failure = failureSchema.safeParse(line);
  if (failure.success) {
    const { code, message } = failure.data.error;
    throw new InfrastructureError(code, `the array: ${message}`);
  }
  const parsed = answer.safeParse(line);
  if (parsed.success) return parsed.data;
  throw new InfrastructureError('ARRAY_STRANGE', `the array's answer to ${what} is not valid`, {
    hint: 'Array and client are of different versions.',
    cause: parsed.error,
  });
}

/** Sends one line and resolves with the parsed line that comes back. */
async function exchange(socketPath: string, request: object, timeoutMs: number): Promise<unknown> {
  const socket = connect(socketPath);
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    await once(socket, 'connect', { signal });
    socket.write(`${JSON.stringify({ id: 1, ...request })}\n`);
    const lines = createInterface({ input: socket });
    const hangUp = once(socket, 'close', { signal }).then(() => {
      throw new Error('it hung up');
    });
    const [line] = (await Promise.race([once(lines, 'line', { signal }), hangUp])) as [string];
    return JSON.parse(line);
  } catch (cause) {
    throw signal.aborted ? timedOut(timeoutMs, cause) : unreachable(socketPath, cause);
  } finally {
    socket.destroy();
  }
}

const timedOut = (timeoutMs: number, cause: unknown): InfrastructureError =>
  new InfrastructureError('ARRAY_TIMEOUT', `no answer from the array in ${timeoutMs} ms`, {
    cause,
  });

const unreachable = (socketPath: string, cause: unknown): InfrastructureError =>
  new InfrastructureError('NO_ARRAY', `no array answers at ${socketPath}`, {
    hint: 'see whether the container beside the cluster whose name ends in -array runs',
    cause,
  });
