/** What a batch leaves for people and machines beside its runs, and `forcedetach merge-batches OUT FOLDER…`. */
import { createHash } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Command } from 'commander';
import { z } from 'zod';
import {
  batchExitCode,
  batchSchema,
  mergeBatches as merge,
  mustFitItsSeal,
  mustHaveItsRuns,
  runsOf,
  sealed,
  type Batch,
} from '../../batch/index.ts';
import {
  type ExitCode,
  type JsonKind,
  type Lock,
  describeError,
  readJson,
  takeFreeLock,
  typed,
  UsageError,
  writeOutput,
} from '../../core/index.ts';
import { migrateBatch } from '../../history/index.ts';
import { readVerdict, storedVerdict } from '../../judge/index.ts';
import type { RunVerdict, VerdictOf } from '../../report/index.ts';
import { commandLine, exits, say, tell } from '../command.ts';
import { checkNewFolder, makeFolder } from '../library/run-folder.ts';
import { missingInBatch } from '../terminal/verdict-lines.ts';

/** The pinned batch that this one is compared with, a copy of its batch.json. */
const baselineFile = 'baseline.json';
/** The picture that summary.md shows. */
const pictureFile = 'heat-map.svg';

/**
 * batch.json, summary.md with its picture, and report.html. `replay`: the command that makes the batch again.
 * `baseline`: a batch to compare with from now on; default: the one that was given before.
 * Returns what batch.json says.
 */
export async function writeBatch(
  folder: string,
  found: Batch,
  replay: string,
  baseline?: Batch,
): Promise<Batch> {
  const report = await import('../../report/index.ts');
  const write = (name: string, content: string): void => writeOutput(join(folder, name), content);
  const addressOf = (run: string): string | undefined =>
    ['report.html', 'summary.md', 'verdict.json']
      .map((file) => `${run}/${file}`)
      .find((file) => existsSync(join(folder, file)));
  const remakeOf = (runs: readonly string[]): string =>
    typed('report', [...runs.map((run) => join(folder, run)), folder]);
  // Each is read once, and a damaged one is reported once.
  const verdicts = new Map<string, RunVerdict | undefined>();
  const verdictOf: VerdictOf = (run) => {
    if (!verdicts.has(run)) verdicts.set(run, readRunVerdict(join(folder, run)));
    return verdicts.get(run);
  };
  // Its runs may be gone: what it says of them stays.
  const versions = { ...found.versions, ...report.batchVersionsOf(found, verdictOf) };
  const batch = sealed({ ...found, replay, versions });
  if (baseline !== undefined) write(baselineFile, json(sealed(baseline)));
  write('batch.json', json(batch));
  const map = report.heatMapOf(batch);
  if (map !== undefined) write(pictureFile, await report.heatMapSvg(map));
  write('summary.md', report.renderBatchMarkdown(batch, map && pictureFile));
  const pinned = baseline ?? readIfThere(join(folder, baselineFile));
  const page = { batch, addressOf, remakeOf, verdictOf, baseline: pinned };
  write('report.html', await report.renderBatchHtml(page));
  return batch;
}

const json = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;

const kindOf = (path: string): JsonKind<Batch> => ({
  ...{ kind: 'batch', schema: z.preprocess(read(path), batchSchema), version: 1 },
  hint: 'docs/reference/matrix.md has every key; a batch writes it when it has ended',
  example: 'reports/matrix/default/batch.json',
});

const read =
  (path: string) =>
  (value: unknown): unknown => {
    mustFitItsSeal(value, path);
    return migrateBatch(value);
  };

const readIfThere = (path: string): Batch | undefined =>
  existsSync(path) ? readJson(path, kindOf(path)) : undefined;

/** Throws UsageError `NO_BATCH`, `BATCH_INVALID` or `BATCH_NEWER`, and EvidenceError `BATCH_ALTERED`. */
export function readBatch(folder: string): Batch {
  const batch = readIfThere(join(folder, 'batch.json'));
  if (batch !== undefined) return batch;
  throw new UsageError('NO_BATCH', `${folder} has no batch.json`, {
    hint: 'a batch writes it at its end; continue one that was cut short with the same --out',
  });
}

/** The last lines on the terminal. */
export const batchLines = (batch: Batch, folder: string): string =>
  [
    `${batch.verdict.toUpperCase()} — ${batch.sentence}`,
    ...missingInBatch(batch, folder),
    `Report: ${join(folder, 'report.html')}`,
  ].join('\n');

/** What a batch's page takes from the verdict.json of one of its runs. */
const asked = storedVerdict.pick({ phases: true, versions: true });

/** Undefined where the run came to none, or where what it left can't be read, which is reported. */
function readRunVerdict(folder: string): RunVerdict | undefined {
  try {
    return readVerdict(folder, asked);
  } catch (error) {
    say(`not on the page: ${describeError(error)}`);
    return undefined;
  }
}

/** The folder exists. Throws UsageError `BATCH_BUSY` when another process runs its batch. */
export function lockBatch(folder: string): Promise<Lock> {
  const path = createHash('sha256').update(realpathSync(folder)).digest('hex');
  return takeFreeLock(`batch/${path.slice(0, 32)}`, `process ${process.pid}`, (other) => {
    const hint = 'wait until it ends, or give another --out';
    const what = `${other} is running the batch in ${folder}`;
    return new UsageError('BATCH_BUSY', what, { hint, again: ['--out', `${folder}-2`] });
  });
}

export const mergeBatches = (): Command =>
  commandLine(typed('merge-batches'), [
    [
      'what matrix --shard 1/3, 2/3 and 3/3 left on three machines',
      'reports/all reports/shard-1 reports/shard-2 reports/shard-3',
    ],
  ])
    .description('Writes batch.json, summary.md and report.html of all shards of a matrix.')
    .argument('<out>', 'the new folder')
    .argument('<folders...>', 'each has the batch.json of one shard')
    .action(
      exits(async (out: string, folders: readonly string[]): Promise<ExitCode> => {
        checkNewFolder(out);
        const shards = folders.map((folder) => {
          const batch = readBatch(folder);
          mustHaveItsRuns(folder, runsOf(batch));
          return { batch, path: relative(out, folder) };
        });
        const batch = merge(shards);
        makeFolder(out);
        await writeBatch(out, batch, typed('merge-batches', [out, ...folders]));
        tell(batchLines(batch, out));
        return batchExitCode(batch);
      }),
    );
