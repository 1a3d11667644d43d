/**
 * The driver's log: one JSON line per CSI call, on the shared directory, where it outlives the pod
 * and the node. Times are of CLOCK_MONOTONIC, which all containers of one machine share.
 */
import { appendFile, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { type Around, grpcCodeOf, messageOf, type CallNotes } from './grpc.ts';
import { type Layout, callLogPath } from './layout.ts';
import { status } from '@grpc/grpc-js';

export const callSchema = z.object({
  /** When the call came in, milliseconds of CLOCK_MONOTONIC. */
  monoMs: z.number(),
  /** The same in Unix milliseconds. */
  wallMs: z.number(),
  durationMs: z.number(),
  /** Where the driver runs. */
  host: z.string(),
  /** RPC name, e.g. `NodeStageVolume`. */
  call: z.string(),
  /** The node that the call is about: the one named in it, else where the driver runs. */
  node: z.string(),
  volume: z.string().optional(),
  /** The request, without secrets. */
  request: z.record(z.string(), z.unknown()),
  /** gRPC code's name and message. */
  error: z.string().optional(),
  /** What the call found out on its way: generation, device, fsck, bytes written before … */
  notes: z.record(z.string(), z.unknown()),
});
export type CallEntry = z.infer<typeof callSchema>;

/** Milliseconds of CLOCK_MONOTONIC. */
export const monotonicMs = (): number => Number(process.hrtime.bigint() / 1000n) / 1000;

/** Logs each call after it ended. A call that can't be logged fails: it would be missing evidence. */
export function logCalls(layout: Layout, host: string): Around {
  const path = callLogPath(layout, host);
  return async ({ name, request }, work) => {
    const started = { monoMs: monotonicMs(), wallMs: Date.now() };
    const { secrets: _, ...shown } = request as Readonly<Record<string, unknown>>;
    const notes: CallNotes = {};
    const log = async (error?: unknown): Promise<void> => {
      const entry: CallEntry = {
        ...started,
        durationMs: monotonicMs() - started.monoMs,
        host,
        call: name,
        node: typeof shown['nodeId'] === 'string' ? shown['nodeId'] : host,
        ...(typeof shown['volumeId'] === 'string' && { volume: shown['volumeId'] }),
        request: shown,
        ...(error !== undefined && { error: `${status[grpcCodeOf(error)]}: ${messageOf(error)}` }),
        notes,
      };
      await mkdir(dirname(path), { recursive: true });
      await appendFile(path, `${JSON.stringify(entry)}\n`);
    };
    try {
      const answer = await work(notes);
      await log();
      return answer;
    } catch (error) {
      await log(error);
      throw error;
    }
  };
}
