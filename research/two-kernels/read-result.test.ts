/** A case's result is read from its history alone; where evidence is missing there is none. */
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openHistory } from '../../lib/history/reader.ts';
import { committedFiles, unpackedRun } from '../../test/support/committed.ts';
import { linesOf } from '../../lib/batch/measurements.ts';
import { readResult } from './read-result.ts';
import { resultSchema } from './result.ts';

const fixtures = 'test/fixtures/two-kernels';
const kept = committedFiles(fixtures).map(unpackedRun);

test.each(kept)('%s: its history gives what was noted', (run) => {
  const found = linesOf(resultSchema).find(({ source }) => basename(source) === basename(run));
  const noted = { ...(found ?? expect.fail('the store has no such line')), records: undefined };
  expect(readResult(openHistory(run), noted.source)).toEqual(noted);
});

test.each(['writer-inside', 'writer-outside', 'rows-second'])('none without %s', (segment) => {
  const folder = mkdtempSync(join(tmpdir(), 'fd-case-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(kept[0] ?? '', folder, { recursive: true });
  const directory = join(folder, 'history');
  const mine = readdirSync(directory).filter((file) => file.startsWith(`${segment}.`));
  for (const file of mine) rmSync(join(directory, file));
  expect(() => readResult(openHistory(folder))).toThrow(
    expect.objectContaining({
      code: 'CASE_INCOMPLETE',
      message: expect.stringContaining(`history segment ${segment} is missing`) as string,
    }),
  );
});
