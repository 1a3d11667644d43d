/** What mysqld's error log says that a person should have read. */
import { createReadStream } from 'node:fs';

/** Lines kept as evidence of one start. */
const maxLines = 50;
const maxLineLength = 500;

const alarming = /\[(ERROR|FATAL)\]|corrupt|Assertion failure|mysqld got signal/i;

/**
 * Lines of level ERROR, or that name corruption or a crash; at most 50, the first ones. Reads no
 * further: a server that fails at the same page again and again writes gigabytes.
 */
export async function alarmingLines(
  log: AsyncIterable<string> | Iterable<string>,
): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of log) {
    if (!alarming.test(line)) continue;
    lines.push(line.slice(0, maxLineLength));
    if (lines.length === maxLines) break;
  }
  return lines;
}

/** A file's lines, piece by piece: a wild log fits into no memory. Throws where there is no file. */
export async function* logLines(path: string): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of createReadStream(path, 'utf8')) {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}
