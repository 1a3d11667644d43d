/**
 * The client of the array (lib/csi/array): the one way to a device, its fence and its counters. One
 * JSON object a line each way over `<root>/array.sock`; each call is a connection of its own.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import type { PowerLoss } from '../disk-kinds.ts';
import { InfrastructureError } from '../errors.ts';

/** One node's way to one volume. */
export interface PathName {
  readonly volume: string;
  readonly generation: number;
}

export interface OpenRequest extends PathName {
  readonly node: string;
  /** Number of the loop device, leased to this cluster. */
  readonly loop: number;
  /** Keep the bytes of each write in `writes.data`, too. Default: false. */
  readonly keepData?: boolean;
  /** `ignored`: flushes are acknowledged and nothing becomes durable. Default: honest. */
  readonly flushes?: 'honest' | 'ignored';
}

export interface CutRequest extends PathName {
  /** For the status and the array's error messages. */
  readonly why: string;
  /** The array cuts by itself this much later. Default: at once. */
  readonly afterMs?: number;
}

/** What a node's requests meet: an answer, no answer, or EIO. */
export const linkStates = ['pass', 'stall', 'fail'] as const;
export type LinkState = (typeof linkStates)[number];

const nanoseconds = z.number().nonnegative();
const count = z.int().nonnegative();

const pathSchema = z.object({
  volume: z.string(),
  node: z.string(),
  generation: z.int().positive(),
  loop: count,
  device: z.string(),
  state: z.enum(['open', 'cut', 'closed']),
  link: z.enum(linkStates),
  /** Requests that wait for the link. */
  held: count,
  reads: count,
  writes: count,
  flushes: count,
  bytesWritten: count,
  bytesRead: count,
  /** Acknowledged, and gone where the node loses power now. */
  unflushedBytes: count,
  /** CLOCK_MONOTONIC, like all times of the array. */
  openedNs: nanoseconds,
  cutNs: nanoseconds.optional(),
  cutWhy: z.string().optional(),
  /** Since when the link does not pass. */
  linkNs: nanoseconds.optional(),
  /** A file is behind the loop device. */
  bound: z.boolean(),
  /** A file system of it is mounted somewhere. */
  claimed: z.boolean(),
});
export type PathStatus = z.infer<typeof pathSchema>;

const answers = {
  ping: z.object({ version: z.string(), clockNs: nanoseconds }),
  open: z.object({ device: z.string() }),
  close: z.object({ closed: z.literal(true) }),
  cut: z.object({
    /** False where it is due later. */
    cut: z.boolean(),
    cutNs: nanoseconds.optional(),
    dueNs: nanoseconds.optional(),
    /** Undefined where the generation was never opened: it can't be from now on. */
    device: z.string().optional(),
    bytesWritten: count.default(0),
  }),
  link: z.object({ paths: count }),
  losePower: z.object({
    /** Paths of the node to the volume that were cut by it. */
    paths: count,
    unflushedWrites: count,
    unflushedBytes: count,
    /** Of the unflushed writes, those that are on the disk, whole or in part. */
    kept: count,
  }),
  status: z.object({ paths: z.array(pathSchema) }),
  copy: z.object({ bytes: count, heldMs: z.number().nonnegative() }),
};
type Answers = typeof answers;
type Answer<Do extends keyof Answers> = z.infer<Answers[Do]>;
export type CutAnswer = Answer<'cut'>;
export type PowerLossAnswer = Answer<'losePower'>;

export interface StorageArray {
  ping(): Promise<Answer<'ping'>>;
  /** Errors: PATH_CUT, PATH_DIFFERS, LOOP_BUSY, NO_SUCH_VOLUME. */
  open(request: OpenRequest): Promise<Answer<'open'>>;
  /** `force` cuts it first and detaches lazily; else PATH_BUSY while it is mounted. */
  close(path: PathName, options?: { readonly force?: boolean }): Promise<Answer<'close'>>;
  /** No write of the path is applied once this resolves (without afterMs). */
  cut(request: CutRequest): Promise<CutAnswer>;
  losePower(request: {
    readonly volume: string;
    readonly node: string;
    readonly unflushed: PowerLoss;
    readonly seed: string;
  }): Promise<PowerLossAnswer>;
  /** How a node's requests are answered, on all its paths, present and later. */
  link(request: {
    readonly node: string;
    readonly state: LinkState;
    /** Added to each answer while it passes. Default: 0. */
    readonly delayMs?: number;
  }): Promise<Answer<'link'>>;
  /** Of all volumes by default. Closed paths are listed, too. */
  status(volume?: string): Promise<PathStatus[]>;
  /** `to` lies under the root. The copy is the volume at one moment. */
  copy(request: { readonly volume: string; readonly to: string }): Promise<Answer<'copy'>>;
}

export interface ArrayOptions {
  /** Of every call but a copy. Default: 15 s. */
  readonly timeoutMs?: number;
  /** Of a copy. Default: 5 minutes. */
  readonly copyTimeoutMs?: number;
}

export const arraySocket = (root: string): string => join(root, 'array.sock');

/** Nothing is connected until a call is made, and calls share nothing. */
export function connectArray(root: string, options: ArrayOptions = {}): StorageArray {
  const { timeoutMs = 15_000, copyTimeoutMs = 300_000 } = options;
  const call = <Do extends keyof Answers>(
    what: Do,
    request: object = {},
    timeout = timeoutMs,
  ): Promise<Answer<Do>> => ask(arraySocket(root), what, request, timeout);
  return {
    ping: () => call('ping'),
    open: (request) => call('open', { flushes: 'honest', ...request }),
    close: (path, { force = false } = {}) => call('close', { ...path, force }),
    cut: (request) => call('cut', request),
    losePower: (request) => call('losePower', request),
    link: (request) => call('link', request),
    status: async (volume) => (await call('status', { volume: volume ?? '' })).paths,
    copy: (request) => call('copy', request, copyTimeoutMs),
  };
}

const failureSchema = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

async function ask<Do extends keyof Answers>(
  socketPath: string,
  what: Do,
  request: object,
  timeoutMs: number,
): Promise<Answer<Do>> {
  const line = await exchange(socketPath, { id: 1, do: what, ...request }, timeoutMs);
  const failure = failureSchema.safeParse(line);
  if (failure.success) {
    const { code, message } = failure.data.error;
    throw new InfrastructureError(code, `the array: ${message}`);
  }
  const answer = answers[what].safeParse(line);
  if (!answer.success) {
    throw new InfrastructureError('ARRAY_STRANGE', `the array's answer to ${what} is not one`, {
      hint: 'Array and client are of different versions.',
      cause: answer.error,
    });
  }
  return answer.data as Answer<Do>;
}

/** Sends one line and resolves with the parsed line that comes back. */
async function exchange(socketPath: string, request: object, timeoutMs: number): Promise<unknown> {
  const socket = connect(socketPath);
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    await once(socket, 'connect', { signal });
    socket.write(`${JSON.stringify(request)}\n`);
    const lines = createInterface({ input: socket, signal });
    const [line] = (await Promise.race([
      once(lines, 'line', { signal }),
      once(socket, 'close', { signal }).then(() => {
        throw new Error('it hung up');
      }),
    ])) as [string];
    return JSON.parse(line);
  } catch (cause) {
    throw signal.aborted
      ? new InfrastructureError('ARRAY_TIMEOUT', `no answer from the array in ${timeoutMs} ms`, {
          cause,
        })
      : new InfrastructureError('ARRAY_UNREACHABLE', `no array answers at ${socketPath}`, {
          hint: 'It runs beside the cluster, outside its nodes, in the container that ends in -array.',
          command: 'docker ps --filter name=-array',
          cause,
        });
  } finally {
    socket.destroy();
  }
}
