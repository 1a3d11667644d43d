/** What mysqld's error log says that a person should have read. */

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
