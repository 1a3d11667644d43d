/** What a batch leaves for people and machines, beside its runs. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../errors.ts';
import type { Verdict } from '../experiment/verdict.ts';
import { batchSchema, type Batch } from '../matrix/batch.ts';

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
  const { renderBatchHtml } = await import('../report/batch-html.ts');
  const { renderBatchMarkdown } = await import('../report/batch-markdown.ts');
  const { heatMapOf, heatMapSvg } = await import('../report/batch-pictures.ts');
  const { versionsOf } = await import('../report/batch-trend.ts');
  const write = (name: string, content: string): void => writeFileSync(join(folder, name), content);
  const hasReport = (run: string): boolean => existsSync(join(folder, run, 'report.html'));
  const verdictOf = (run: string): Verdict | undefined => readVerdict(join(folder, run));
  const told = { ...batch, replay, versions: versionsOf(batch, verdictOf) };
  if (baseline !== undefined) write(baselineFile, json(baseline));
  write('batch.json', json(told));
  const map = heatMapOf(told);
  if (map !== undefined) write(pictureFile, heatMapSvg(map));
  write('summary.md', renderBatchMarkdown(told, map === undefined ? undefined : pictureFile));
  const pinned = baseline ?? readPinned(folder);
  write(
    'report.html',
    await renderBatchHtml({ batch: told, hasReport, verdictOf, baseline: pinned }),
  );
  return told;
}

const json = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;

/** Throws UsageError `NO_BATCH`. */
export function readBatch(folder: string): Batch {
  try {
    return batchSchema.parse(JSON.parse(readFileSync(join(folder, 'batch.json'), 'utf8')));
  } catch (cause) {
    throw new UsageError('NO_BATCH', `${folder} has no batch.json that can be read`, {
      hint: 'a batch writes it when it has ended; go on with one that was cut short first',
      cause,
    });
  }
}

function readPinned(folder: string): Batch | undefined {
  const path = join(folder, baselineFile);
  return existsSync(path) ? batchSchema.parse(JSON.parse(readFileSync(path, 'utf8'))) : undefined;
}

/** Undefined where the run came to none. */
function readVerdict(folder: string): Verdict | undefined {
  const path = join(folder, 'verdict.json');
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Verdict) : undefined;
}

/** The last line on the terminal. */
export const batchLine = ({ verdict, sentence }: Batch, folder: string): string =>
  `${verdict.toUpperCase()} — ${sentence} → ${join(folder, 'report.html')}`;
