import { mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { alarmingLines, logLines } from './error-log.ts';

const note = '2026-11-22T16:40:00Z 0 [System] [MY-010116] [Server] mysqld starting';
const broken = '2026-11-22T16:40:01Z 0 [ERROR] [MY-011899] [InnoDB] [FATAL] Page 7 is broken';

test('keeps what alarms, cut to a length, and nothing else', async () => {
  const long = `${broken} ${'x'.repeat(1000)}`;
  const signal = '2026-11-22T16:40:02Z UTC - mysqld got signal 6 ;';
  expect(await alarmingLines([note, broken, '', long, signal])).toEqual([
    broken,
    long.slice(0, 500),
    signal,
  ]);
});

test('a log without an end is read until its fiftieth such line', async () => {
  let read = 0;
  function* endless(): Generator<string> {
    for (;;) yield (read += 1) % 2 === 0 ? note : broken;
  }
  expect(await alarmingLines(endless())).toHaveLength(50);
  expect(read).toBe(99);
});

async function readAll(path: string): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of logLines(path)) lines.push(line);
  return lines;
}

test('a file’s lines, with and without a newline at its end, and of one that is not there', async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'fd-error-log-'));
  const path = join(folder.path, 'cold.err');
  writeFileSync(path, `${broken}\n\n${'é'.repeat(100_000)}`);
  expect(await readAll(path)).toEqual([broken, '', 'é'.repeat(100_000)]);
  writeFileSync(path, '');
  expect(await readAll(path)).toEqual([]);
  await expect(readAll(join(folder.path, 'none'))).rejects.toThrow('ENOENT');
});
