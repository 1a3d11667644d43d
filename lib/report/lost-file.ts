/** lost.jsonl: every commit that was acknowledged and is gone, one a line, for whoever has to look. */
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { assembleVerdict } from '../experiment/assemble.ts';
import type { Verdict } from '../experiment/verdict.ts';
import type { History } from '../history/reader.ts';

export const lostFile = 'lost.jsonl';
/** Written at a time, bytes. */
const chunkBytes = 64 * 1024;

/** Where a copy that could be read lacks commits, each can be named. */
export const hasLostFile = ({ images }: Verdict): boolean =>
  images.some(({ lost, readable }) => readable && lost > 0);

/**
 * Writes it where a copy of the volume that could be read lacks commits; else there is no such
 * file. The same history gives the same bytes.
 */
export function writeLostCommits(folder: string, verdict: Verdict, history: History): void {
  const path = join(folder, lostFile);
  rmSync(path, { force: true });
  if (!hasLostFile(verdict)) return;
  const file = openSync(path, 'w');
  let lines = '';
  const write = (): void => {
    writeSync(file, lines);
    lines = '';
  };
  try {
    assembleVerdict(history, (commit) => {
      lines += `${JSON.stringify(commit)}\n`;
      if (lines.length > chunkBytes) write();
    });
    write();
  } finally {
    closeSync(file);
  }
}
