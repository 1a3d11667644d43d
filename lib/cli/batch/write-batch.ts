/** What a batch leaves for people and machines, beside its runs. */
import { createHash } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import {
  UsageError,
  describeError,
  readJson,
  type JsonKind,
  writeOutput,
  typed,
  takeFreeLock,
  type Lock,
} from '../../core/index.ts';
import { migrateBatch } from '../../history/index.ts';
import { batchSchema, type Batch } from '../../batch/index.ts';
import type { RunVerdict, VerdictOf, BatchPage } from '../../report/index.ts';
import { readVerdict, storedVerdict } from '../../judge/index.ts';
import { say } from '../command.ts';
import { missingInBatch } from '../terminal/missing-evidence.ts';

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
  batch: Batch,
  replay: string,
  baseline?: Batch,
): Promise<Batch> {
  const { renderBatchHtml } = await import('../../report/index.ts');
  const { renderBatchMarkdown } = await import('../../report/index.ts');
  const { heatMapOf, heatMapSvg } = await import('../../report/index.ts');
  const { batchVersionsOf } = await import('../../report/index.ts');
  const write = (name: string, content: string): void => writeOutput(join(folder, name), content);
  const addressOf = (run: string): string | undefined =>
    ['report.html', 'summary.md', 'verdict.json']
      .map((file) => `${run}/${file}`)
      .find((file) => existsSync(join(folder, file)));
  const remakeOf: BatchPage['remakeOf'] = (runs) =>
    typed('report', [...runs.map((run) => join(folder, run)), folder]);
  // Asked for twice, read once, and told once where it is damaged.
  const verdicts = new Map<string, RunVerdict | undefined>();
  const verdictOf: VerdictOf = (run) => {
    if (!verdicts.has(run)) verdicts.set(run, readRunVerdict(join(folder, run)));
    return verdicts.get(run);
  };
  // Its runs may be gone: what it says of them stays.
  const versions = { ...batch.versions, ...batchVersionsOf(batch, verdictOf) };
  const told = { ...batch, replay, versions };
  if (baseline !== undefined) write(baselineFile, json(baseline));
  write('batch.json', json(told));
  const map = heatMapOf(told);
  if (map !== undefined) write(pictureFile, await heatMapSvg(map));
  write('summary.md', renderBatchMarkdown(told, map === undefined ? undefined : pictureFile));
  const pinned = baseline ?? readPinned(folder);
  write(
    'report.html',
    await renderBatchHtml({ batch: told, addressOf, remakeOf, verdictOf, baseline: pinned }),
  );
  return told;
}

const json = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;

const batchKind: JsonKind<Batch> = {
  ...{ kind: 'batch', schema: z.preprocess(migrateBatch, batchSchema), version: 1 },
  hint: 'docs/reference/matrix.md has every key; a batch writes it when it has ended',
  example: 'reports/matrix/default/batch.json',
};

/** Throws UsageError `NO_BATCH`, `BATCH_INVALID` or `BATCH_NEWER`. */
export function readBatch(folder: string): Batch {
  const path = join(folder, 'batch.json');
  if (existsSync(path)) return readJson(path, batchKind);
  throw new UsageError('NO_BATCH', `${folder} has no batch.json`, {
    hint: 'a batch writes it at its end; continue one that was cut short with the same --out',
  });
}

function readPinned(folder: string): Batch | undefined {
  const path = join(folder, baselineFile);
  return existsSync(path) ? readJson(path, batchKind) : undefined;
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

/** Undefined where the run came to none, or where what it left can't be read, which is told. */
export function readRunVerdict(folder: string): RunVerdict | undefined {
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
