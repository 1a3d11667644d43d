/** What mysqld's error log says that a person should have read. */

/** Lines kept as evidence of one start. */
const maxLines = 50;
const maxLineLength = 500;

const alarming = /\[(ERROR|FATAL)\]|corrupt|Assertion failure|mysqld got signal/i;

/** Lines of level ERROR, or that name corruption or a crash; at most 50, the first ones. */
export function alarmingLines(log: string): string[] {
  const lines: string[] = [];
  for (const line of log.split('\n')) {
    if (!alarming.test(line)) continue;
    lines.push(line.slice(0, maxLineLength));
    if (lines.length === maxLines) break;
  }
  return lines;
}
