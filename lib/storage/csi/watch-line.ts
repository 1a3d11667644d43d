/** The lines that watch-tool.ts writes, one JSON object each; times are of CLOCK_MONOTONIC, in ms. */
import { z } from 'zod';
import { linkStates } from '../../scenario/index.ts';
import { callSchema } from './call-log.ts';

const at = { monoMs: z.number() };
const device = {
  volume: z.string(),
  node: z.string(),
  /** `/dev/loop128`, or `files` for a shared directory. */
  device: z.string(),
  /** The path's; 0 for a shared directory, which has none. */
  generation: z.number(),
};

export const watchLineSchema = z.discriminatedUnion('type', [
  /** The first line: what happens from now on is told. */
  z.object({ type: z.literal('watching'), ...at }),
  /** All was looked at just now, and told. */
  z.object({ type: z.literal('beat'), ...at }),
  /** The file system of a volume is mounted on the node, anywhere; or nowhere any more. */
  z.object({ type: z.enum(['mounted', 'unmounted']), ...at, ...device }),
  /** Bytes written through the path since it was opened. */
  z.object({ type: z.literal('written'), ...at, ...device, bytesWritten: z.number() }),
  z.object({ type: z.literal('cut'), ...at, ...device, bytesWritten: z.number() }),
  /** The node's way to the storage is another than before. Where nothing is said, it passes. */
  z.object({ type: z.literal('link'), ...at, node: z.string(), state: z.enum(linkStates) }),
  /** So many requests of the path wait for the link now. */
  z.object({ type: z.literal('held'), ...at, ...device, held: z.number() }),
  z.object({ type: z.literal('call'), entry: callSchema }),
  /** Something could not be looked at: the observations have a gap. */
  z.object({ type: z.literal('failure'), ...at, message: z.string() }),
]);
export type WatchLine = z.infer<typeof watchLineSchema>;

/** What may be written to its stdin: the nodes' processes, which change when a node boots. */
export const watchControlSchema = z.object({ nodes: z.record(z.string(), z.int().positive()) });
