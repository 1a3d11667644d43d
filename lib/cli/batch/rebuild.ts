/** What a run or a batch leaves, made anew from its history. */
import type { ExitCode } from '../../errors.ts';
import type { History } from '../../history/reader.ts';
import { judgeHistory } from '../../library/tested.ts';
import { plainText } from '../../plain-text.ts';
import { verdictLines } from '../terminal/verdict-lines.ts';

export interface Rebuilt {
  /** What the terminal is told; nothing of a file in it is obeyed. */
  readonly text: string;
  /** Exit code that the run itself ended with. */
  readonly code: ExitCode;
}

/** Writes into `folder` all that the run of that history leaves, whatever kind of run it was. */
export async function rebuildRun(folder: string, history: History): Promise<Rebuilt> {
  const { exitCodeOf } = await import('../../experiment/verdict/verdict.ts');
  const judged = await judgeHistory(history);
  await judged.write(folder);
  const text = verdictLines(judged, `${folder}/report.html`, process.stdout);
  return { text, code: exitCodeOf(judged.verdict) };
}

/** The batch's page and summary, from its batch.json and the verdicts of its runs. */
export async function rebuildBatch(folder: string): Promise<Rebuilt> {
  const { batchExitCode } = await import('../../matrix/summarize.ts');
  const { batchLines, readBatch, writeBatch } = await import('./write-batch.ts');
  const batch = readBatch(folder);
  await writeBatch(folder, batch, batch.replay ?? '');
  return { text: plainText(batchLines(batch, folder)), code: batchExitCode(batch) };
}
