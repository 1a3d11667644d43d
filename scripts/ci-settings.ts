/** What ci-tasks.ts takes from the environment: a pipeline's words never become a part of a command. */
import { z } from 'zod';
import { failOnFrom } from '../lib/cli/fail-on.ts';

/** A pipeline passes what nobody gave as nothing. */
const text = z.string().default('');
const orElse = (fallback: string): z.ZodPipe<typeof text, z.ZodTransform<string, string>> =>
  text.transform((given) => given.trim() || fallback);

export const placeSchema = z.object({
  FORCEDETACH_FOLDER: orElse('reports/ci'),
  FORCEDETACH_SHARD: orElse('1/1').pipe(z.string().regex(/^\d+\/\d+$/, 'give a part such as 1/3')),
  /** Relative paths begin here. */
  GITHUB_WORKSPACE: orElse(process.cwd()),
});
/** Where the output of one shard is. */
export type Place = z.output<typeof placeSchema>;

export const settingsSchema = placeSchema.extend({
  /** A schedule file, as replay.mjs takes it; or a matrix file: one of the two. */
  FORCEDETACH_SCENARIO: text,
  FORCEDETACH_MATRIX: text,
  /** Flags of the experiment, or of matrix.mjs. */
  FORCEDETACH_FLAGS: text,
  FORCEDETACH_SHARDS: orElse('1').transform(Number).pipe(z.number().int().min(1).max(64)),
  /** All shards of a batch have the same one. Empty: the file's, or drawn. */
  FORCEDETACH_SEED: text,
  /** The same of `run` and `judge`, another of every other job. Default: the pipeline's own id. */
  FORCEDETACH_JOB: text,
  GITHUB_RUN_ID: text,
  GITHUB_RUN_ATTEMPT: text,
  /** GitLab, Jenkins, Buildkite, CircleCI: of the pipeline, whose jobs may be several. */
  CI_PIPELINE_ID: text,
  BUILD_TAG: text,
  BUILDKITE_BUILD_ID: text,
  CIRCLE_WORKFLOW_ID: text,
  /** Results that fail the job, or `never`; errors fail it always. */
  FORCEDETACH_FAIL_ON: orElse('unexpected,inconclusive,open').transform((words, context) => {
    try {
      return failOnFrom(words);
    } catch (error) {
      context.addIssue(error instanceof Error ? error.message : String(error));
      return z.NEVER;
    }
  }),
  /** Heading of the summary. */
  FORCEDETACH_NAME: orElse('forcedetach'),
  /** `true` on GitHub, which turns lines on stdout into annotations. */
  GITHUB_ACTIONS: text,
  /** Files that are appended to: outputs of the step, and a page of Markdown. */
  GITHUB_OUTPUT: z.string().optional(),
  GITHUB_STEP_SUMMARY: z.string().optional(),
});
export type Settings = z.output<typeof settingsSchema>;
