/** lost.jsonl: every commit that was acknowledged and is gone, one a line, for whoever has to look. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { assembleVerdict } from '../experiment/verdict/assemble.ts';
import type { Verdict } from '../experiment/verdict/verdict.ts';
import type { History } from '../history/reader.ts';
import { OutputFile } from '../output-file.ts';

export const lostFile = 'lost.jsonl';

/** Where a copy that could be read lacks commits, each can be named. */
export const hasLostFile = ({ images }: Verdict): boolean =>
  images.some(({ lost, readable }) => readable && lost !== 0);

/**
 * Writes it where a copy of the volume that could be read lacks commits; else there is no such
 * file. The same history gives the same bytes.
 */
export function writeLostCommits(folder: string, verdict: Verdict, history: History): void {
  const path = join(folder, lostFile);
  if (!hasLostFile(verdict)) {
    rmSync(path, { force: true });
    return;
  }
  using file = new OutputFile(path);
  assembleVerdict(history, { onLost: (commit) => file.add(`${JSON.stringify(commit)}\n`) });
  file.commit();
}
