/** What scripts/ci.ts takes from the environment: a pipeline's words never become a part of a command. */
import { z } from 'zod';

export const outcomes = ['expected', 'unexpected', 'inconclusive', 'open'] as const;
export type Outcome = (typeof outcomes)[number];

/** A pipeline passes what nobody gave as nothing. */
const text = z.string().default('');
const orElse = (fallback: string): z.ZodPipe<typeof text, z.ZodTransform<string, string>> =>
  text.transform((given) => given.trim() || fallback);

export const settingsSchema = z.object({
  /** A schedule file, as replay.mjs takes it; or a matrix file: one of the two. */
  FORCEDETACH_SCENARIO: text,
  FORCEDETACH_MATRIX: text,
  /** Flags of the experiment, or of matrix.mjs. */
  FORCEDETACH_FLAGS: text,
  FORCEDETACH_SHARD: orElse('1/1').pipe(z.string().regex(/^\d+\/\d+$/, 'give a part such as 1/3')),
  FORCEDETACH_SHARDS: orElse('1').transform(Number).pipe(z.number().int().min(1).max(64)),
  /** All shards of a batch have the same one. Empty: the file's, or drawn. */
  FORCEDETACH_SEED: text,
  /** Outcomes that fail the job, or `never`; errors fail it always. */
  FORCEDETACH_FAIL_ON: orElse('unexpected,inconclusive,open')
    .transform((words) => words.split(',').map((word) => word.trim()))
    .pipe(z.array(z.enum([...outcomes, 'never']))),
  /** Heading of the summary. */
  FORCEDETACH_NAME: orElse('forcedetach'),
  FORCEDETACH_FOLDER: orElse('reports/ci'),
  /** Relative paths begin here. */
  GITHUB_WORKSPACE: orElse(process.cwd()),
  /** Files that are appended to: outputs of the step, and a page of Markdown. */
  GITHUB_OUTPUT: z.string().optional(),
  GITHUB_STEP_SUMMARY: z.string().optional(),
});
export type Settings = z.output<typeof settingsSchema>;
