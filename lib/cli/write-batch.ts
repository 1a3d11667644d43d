/** What a batch leaves for people and machines, beside its runs. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Batch } from '../matrix/batch.ts';

/** batch.json, summary.md and report.html. `replay`: the command that makes the batch again. */
export async function writeBatch(folder: string, batch: Batch, replay: string): Promise<void> {
  const { renderBatchHtml } = await import('../report/batch-html.ts');
  const { renderBatchMarkdown } = await import('../report/batch-markdown.ts');
  const write = (name: string, content: string): void => writeFileSync(join(folder, name), content);
  const hasReport = (run: string): boolean => existsSync(join(folder, run, 'report.html'));
  write('batch.json', `${JSON.stringify(batch, undefined, 2)}\n`);
  write('summary.md', renderBatchMarkdown(batch));
  write('report.html', await renderBatchHtml({ batch, replay, hasReport }));
}

/** The last line on the terminal. */
export const batchLine = ({ verdict, sentence }: Batch, folder: string): string =>
  `${verdict.toUpperCase()} — ${sentence} → ${join(folder, 'report.html')}`;
