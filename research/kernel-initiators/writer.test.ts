/** The guest's writer leaves what ../real-storage reads, and keeps a journal that it reads. */
import { spawn } from 'node:child_process';
import { mkdtempDisposable, open, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { isAcked, readJournal } from '../real-storage/journal.ts';
import { blockBytes, blockOf, tokenIn, volumeBytes } from '../real-storage/token.ts';

const script = fileURLToPath(new URL('writer.pl', import.meta.url));

test.each(['a', 'b'] as const)('%s writes tokens where they belong', async (node) => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'fd-writer-'));
  const file = join(folder.path, 'volume');
  await using volume = await open(file, 'w');
  await volume.truncate(volumeBytes);
  const writer = spawn('perl', [script, file, node, '1'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines: string[] = [];
  for await (const chunk of writer.stdout.setEncoding('utf8')) {
    lines.push(...String(chunk).split('\n').filter(Boolean));
    if (readJournal(lines).asked.filter(isAcked).length >= 4) break;
  }
  writer.kill('SIGKILL');
  const bytes = await readFile(file);
  const at = (seq: number) => {
    const from = blockOf({ node, seq }) * blockBytes;
    return tokenIn(bytes.subarray(from, from + blockBytes));
  };
  expect([at(1), at(3)]).toEqual([1, 3].map((seq) => ({ node, seq })));
  expect(at(2)?.seq).toBeGreaterThanOrEqual(4);
});
