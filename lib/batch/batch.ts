/** The shape of batch.json: what a batch found, for people's tools. docs/reference/matrix.md explains it. */
import { z } from 'zod';
import { sealOf } from '../core/index.ts';
import { reasonSchema } from '../judge/index.ts';
import { servingWords, verdictWords } from '../scenario/index.ts';
import { controlRoles } from './batch-plan.ts';
import type { CountedRun } from './seals.ts';

/** How many of how many independent fault events, with Wilson's 95 % interval. */
const rateSchema = z.object({
  count: z.number().int(),
  of: z.number().int(),
  low: z.number(),
  high: z.number(),
});
export type Rate = z.output<typeof rateSchema>;

const word = z.enum(verdictWords);

/** SHA-256 of the run's verdict.json. Absent where it came to none, and in batches before 2026-11-27. */
const verdictSha256 = z.string().optional();

const cellSchema = z.object({
  id: z.string(),
  label: z.string(),
  /** Axis → label; empty for a cell outside the grid. */
  place: z.record(z.string(), z.string()),
  /** The worst that was concluded; `inconclusive` where nothing was. */
  verdict: word,
  expected: z.array(word),
  /** What fault events of a race came to before this batch; absent of any other cell. */
  counted: z.record(z.string(), z.number().int()).optional(),
  /** Whether somebody must serve after the heal. */
  expectedServing: z.enum(servingWords),
  /** Why that is expected. */
  because: z.string(),
  /** Every conclusion was an expected one; null where there is none, or nothing was expected. */
  asExpected: z.boolean().nullable(),
  /** No expectation: a race that was counted too rarely. */
  open: z.boolean().optional(),
  /** Fault events by their worst verdict. */
  verdicts: z.record(word, z.number().int()),
  /** Lost or corrupt. */
  damaged: rateSchema,
  /** Anything but safe. */
  unsafe: rateSchema,
  /** Events in which nothing would have told a normal operator. */
  silent: z.number().int(),
  /** Medians over the runs that came to a verdict; null where there is none. */
  median: z.object({
    /** Unreadable commits count as lost; the next three tell them apart; null where a run did not. */
    lost: z.number().nullable(),
    unreadableBeforeHeal: z.number().nullable(),
    gone: z.number().nullable(),
    missingAfterHeal: z.number().nullable(),
    acked: z.number().nullable(),
    downtimeS: z.number().nullable(),
    exposureS: z.number().nullable(),
    secondMountS: z.number().nullable(),
  }),
  /** Folders of its last attempts, relative to the batch's, and what each came to. */
  runs: z.array(
    z.object({
      folder: z.string(),
      verdict: word.nullable(),
      sentence: z.string(),
      verdictSha256,
    }),
  ),
  /** Attempts that were made again because the machine did not keep time, or that failed. */
  discarded: z.number().int(),
});
export type BatchCell = z.output<typeof cellSchema>;

const differenceSchema = z.object({
  axis: z.string(),
  from: z.string(),
  to: z.string(),
  /** What both have in common, in words; empty where there is one axis only. */
  elsewhere: z.string(),
  fromCell: z.string(),
  toCell: z.string(),
  fromVerdict: word,
  toVerdict: word,
  /** Change of the rate of damage, `to` less `from`, with Newcombe's 95 % interval. */
  by: z.number(),
  low: z.number(),
  high: z.number(),
});
export type CellDifference = z.output<typeof differenceSchema>;

export const batchSchema = z.object({
  schemaVersion: z.literal(1),
  name: z.string(),
  question: z.string(),
  /** One sentence with numbers. */
  sentence: z.string(),
  /** `open`: nothing was unexpected, and of some cells nothing was expected. */
  verdict: z.enum(['expected', 'unexpected', 'inconclusive', 'open']),
  /** Why the batch as a whole proves nothing; empty where it does. */
  inconclusiveBecause: z.array(z.string()),
  /** The same by code, in that order; `folder` is of the run. Absent in batches before 2026-11-27. */
  reasons: z.array(reasonSchema).optional(),
  /** The weakest of its runs. */
  basis: z.enum(['measured', 'shortened', 'predicted']),
  /** The backend’s name. */
  cluster: z.string(),
  seed: z.string(),
  startedAt: z.string(),
  /** Paste-ready command that makes the batch again. */
  replay: z.string().optional(),
  /** Versions that its runs recorded, each name with all its values. */
  versions: z.record(z.string(), z.array(z.string())).optional(),
  /** Time in which something ran, summed over restarts; side by side counts once. */
  busyS: z.number(),
  /** Independent fault events in which a cell came to a verdict; several may share one. */
  events: z.number().int(),
  /** Number of these per hour of `busyS`. */
  eventsPerHour: z.number(),
  worstTimerLagMs: z.number(),
  /** By what share timers ran late, in the run in which it was most. */
  timerDistortion: z.number(),
  axes: z.array(
    z.object({
      name: z.string(),
      labels: z.array(z.string()),
      /** Pairs of labels that differ in more than one thing; they are compared with nothing. */
      unlike: z.array(z.tuple([z.string(), z.string()])).optional(),
    }),
  ),
  cells: z.array(cellSchema),
  controls: z.array(
    z.object({
      role: z.enum(controlRoles),
      label: z.string(),
      holds: z.boolean(),
      /** What is wrong with it; empty where it holds. */
      trouble: z.string(),
      /** Acknowledged commits that it lost in silence, and of how many; null where none were. */
      silentLoss: z.object({ lost: z.number().int(), of: z.number().int() }).nullable(),
      folder: z.string(),
      verdictSha256,
    }),
  ),
  /** Cells that ran once more, alone. */
  checks: z.array(
    z.object({
      cell: z.string(),
      label: z.string(),
      verdict: word,
      /** What the cell came to beside others. */
      before: z.array(word),
      /** Null where one side came to no verdict. */
      agrees: z.boolean().nullable(),
      folder: z.string(),
      verdictSha256,
    }),
  ),
  /** For two values of an axis that are one change: the pairs of cells that differ in nothing else. */
  contrasts: z.array(
    z.object({
      axis: z.string(),
      from: z.string(),
      to: z.string(),
      pairs: z.number().int(),
      /** Pairs whose verdicts differ; lost and corrupt count as one. */
      changed: z.number().int(),
      /** How many of these `to` is the better of. */
      better: z.number().int(),
    }),
  ),
  /** The pairs whose verdicts differ. */
  differences: z.array(differenceSchema),
  /** SHA-256 of all else in this file. Absent where its runs have none. */
  seal: z.string().optional(),
});
export type Batch = z.output<typeof batchSchema>;

// Its seal, and those of the runs that it counts.

export const runsOf = ({ cells, controls, checks }: Batch): CountedRun[] => [
  ...cells.flatMap(({ runs }) => runs),
  ...controls,
  ...checks,
];

/** With its seal, where its runs have theirs. */
export function sealed({ seal: _before, ...batch }: Batch): Batch {
  const isSealed = runsOf(batch).some(({ verdictSha256 }) => verdictSha256 !== undefined);
  return isSealed ? { ...batch, seal: sealOf(batch) } : batch;
}
