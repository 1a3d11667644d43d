/** One run of one case on one host, in the store of measurements: a line with every fact. */
import { z } from 'zod';
import { safetyLevels } from '../../lib/scenario/index.ts';
import { lineSchema } from '../../lib/batch/index.ts';
import { caseNames } from './cases.ts';
import { comparedFilesystems, hostKinds } from './host.ts';

const bySide = z.strictObject({ victim: z.number(), successor: z.number() });
const counts = z.strictObject({ acked: z.number(), lost: z.number() });

const imageSchema = z.strictObject({
  image: z.enum(['first', 'second']),
  /** The worst finding. */
  safety: z.enum(safetyLevels),
  /** Every piece of evidence was there. */
  complete: z.boolean(),
  /** Codes of the findings, each once. */
  findings: z.array(z.string()),
  /** An operator's own tools would have told: fsck, the error log, CHECK TABLE, a server's death. */
  loud: z.boolean(),
  /** Rows of the ledger that could be read. */
  rows: z.number(),
  readable: z.boolean(),
  /** Commits that this image had to hold, by who acknowledged them. */
  victim: counts,
  successor: counts,
  fsckReplayExitCode: z.number().nullable(),
  fsckExitCode: z.number().nullable(),
  /** Tables that CHECK TABLE complained of or that have no answer. */
  checkTable: z.array(z.string()),
  /** Starts of the server on the copy: what it was for, and how it ended. */
  starts: z.array(
    z.strictObject({ purpose: z.string(), ready: z.boolean(), died: z.string().nullable() }),
  ),
  /** Different alarming lines of the error log, and the first of them. */
  errorLines: z.number(),
  errors: z.array(z.string()),
  failures: z.array(z.string()),
  auditMs: z.number(),
});
export type ImageResult = z.output<typeof imageSchema>;

export const resultSchema = lineSchema.extend({
  kind: z.literal('two-kernels'),
  scenario: z.strictObject({
    case: z.enum(caseNames),
    host: z.enum(hostKinds),
    filesystem: z.enum(comparedFilesystems),
    repeat: z.number().int(),
    /** Processors that each node was held to; absent where it was not. */
    cpus: z.number().optional(),
    connections: z.number(),
    /** Asked of each side's client, commits per second. */
    rate: z.number(),
    trxCommit: z.number(),
    /** So long a side that settled was quiet, where it was less than today's side asks for. */
    quietMs: z.number().optional(),
  }),
  seed: z.string(),
  outcome: z.strictObject({
    durationMs: z.number(),
    /** How the successor got the volume. */
    takeover: z.object({
      fsckExitCode: z.number(),
      mounted: z.boolean(),
      mountError: z.string().nullable(),
      /** The server answered. */
      ready: z.boolean(),
      died: z.boolean(),
      startMs: z.number().nullable(),
    }),
    /** Acknowledged commits of the whole run. */
    acked: bySide,
    /** Acknowledged by the victim after the successor had mounted the volume. */
    victimAckedBeside: z.number(),
    /** Alarming lines in each side's own error log; null where the machine was gone. */
    logs: z.strictObject({
      victim: z.array(z.string()).nullable(),
      successor: z.array(z.string()).nullable(),
    }),
    /** The steps in their order: when each began, and what each side had done and written by then. */
    marks: z.array(
      z.object({ step: z.string(), atMs: z.number(), acked: bySide, bytesWritten: bySide }),
    ),
    /** Acknowledged by the array, not flushed, and dropped by the power loss; null without one. */
    unflushedBytes: z.number().nullable(),
    images: z.array(imageSchema),
    /** Share of the run in which some task waited for a processor, 0 … 1 (kernel's PSI). */
    cpuPressure: z.number().nullable(),
  }),
  versions: z
    .object({ 'kernel victim': z.string(), 'kernel successor': z.string() })
    .catchall(z.string()),
  date: z.string(),
});
export type Result = Readonly<z.output<typeof resultSchema>>;
