/**
 * What the task `run` leaves beside a shard's folder: the job that ran it, and the result that the run
 * ended with. Without this mark `judge` could report what an earlier job left.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { exitCode, UsageError } from '../lib/core/errors.ts';
import { mebibyte, readInput, writeOutput } from '../lib/core/files.ts';
import { readJson } from '../lib/core/data-file.ts';
import type { Place, Settings } from './ci-settings.ts';

const markSchema = z.object({
  schemaVersion: z.literal(2),
  /** Empty where the pipeline has no id. */
  job: z.string(),
  shard: z.string(),
  startedAt: z.string(),
  /** Absent until the run has ended. */
  ended: z
    .object({
      exitCode: z.number().int(),
      /** Each file that is judged or published, with its SHA-256. Absent where the run came to no result. */
      result: z.record(z.string(), z.string()).optional(),
    })
    .optional(),
});
type Mark = z.output<typeof markSchema>;

/** A batch with a thousand runs has tens of MB. */
const resultBytes = 256 * mebibyte;

export const folderOf = (given: Place): string =>
  resolve(given.GITHUB_WORKSPACE, given.FORCEDETACH_FOLDER);
export const shardFolder = (given: Place, number: number): string =>
  join(folderOf(given), `shard-${number}`);
export const shardNumber = ({ FORCEDETACH_SHARD }: Place): number =>
  Number.parseInt(FORCEDETACH_SHARD);

const markFile = (given: Place, number: number): string => `${shardFolder(given, number)}.json`;

const jobOf = (given: Settings): string =>
  [
    given.FORCEDETACH_JOB,
    given.GITHUB_RUN_ID && `${given.GITHUB_RUN_ID}.${given.GITHUB_RUN_ATTEMPT}`,
    given.CI_PIPELINE_ID,
    given.BUILD_TAG,
    given.BUILDKITE_BUILD_ID,
    given.CIRCLE_WORKFLOW_ID,
  ].find((id) => id !== '') ?? '';

/** Before anything else of a run, so that `judge` refuses what an earlier run left. */
export const dropMark = (given: Place): void =>
  rmSync(markFile(given, shardNumber(given)), { force: true });

export function startMark(given: Settings): Mark {
  const startedAt = new Date().toISOString();
  const shard = given.FORCEDETACH_SHARD;
  return write(given, { schemaVersion: 2, job: jobOf(given), shard, startedAt });
}

/** Marks the shard as run with its exit code. Returns whether it came to a result. */
export function endMark(given: Settings, mark: Mark, code: number): boolean {
  const folder = shardFolder(given, shardNumber(given));
  const files = ['batch.json', 'verdict.json', 'summary.md']
    .map((name) => [name, join(folder, name)] as const)
    .filter(([, path]) => existsSync(path));
  const isResult = files.length === 2;
  const result = Object.fromEntries(files.map(([name, path]) => [name, hashOf(path)]));
  write(given, { ...mark, ended: { exitCode: code, ...(isResult ? { result } : {}) } });
  return isResult;
}

/** Why this job may not judge the shard; undefined where it may. */
export function troubleWith(given: Settings, number: number): string | undefined {
  const path = markFile(given, number);
  if (!existsSync(path)) return 'this job did not run it';
  const { job, shard, startedAt, ended } = readJson(path, markKind);
  if (job !== jobOf(given)) return `another job ran it (${job || 'without an id'}, ${startedAt})`;
  const wanted = given.FORCEDETACH_SHARDS === 1 ? given.FORCEDETACH_SHARD : undefined;
  if (shard !== (wanted ?? `${number}/${given.FORCEDETACH_SHARDS}`)) return `it ran as ${shard}`;
  if (ended === undefined) return `its run did not end (started ${startedAt})`;
  const { result } = ended;
  if (result === undefined) return `its run left no result (exit code ${ended.exitCode})`;
  const changed = Object.entries(result).find(([name, sha256]) => {
    const path = join(shardFolder(given, number), name);
    return !existsSync(path) || hashOf(path) !== sha256;
  });
  if (changed !== undefined) return `${changed[0]} is not the one that its run left`;
  const failed: readonly number[] = [exitCode.usage, exitCode.infrastructure];
  return failed.includes(ended.exitCode)
    ? `its run failed (exit code ${ended.exitCode})`
    : undefined;
}

const markKind = {
  ...{ kind: 'mark', schema: markSchema, version: 2 },
  hint: 'run the shard again',
  example: 'forcedetach/shard-1.json',
};

const hashOf = (file: string): string =>
  createHash('sha256').update(readInput(file, resultBytes)).digest('hex');

function write(given: Settings, mark: Mark): Mark {
  const path = markFile(given, shardNumber(given));
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeOutput(path, `${JSON.stringify(mark, undefined, 2)}\n`);
  } catch (cause) {
    throw new UsageError('OUT_UNUSABLE', `cannot write ${path}`, {
      hint: 'give FORCEDETACH_FOLDER a folder that can be written',
      cause,
    });
  }
  return mark;
}
