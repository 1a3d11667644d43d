/** A case's result is read from its history alone; where evidence is missing there is none. */
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openHistory } from '../../lib/history/reader.ts';
import { linesOf } from '../../lib/measurements/store.ts';
import { readResult } from './read-result.ts';
import { resultSchema } from './result.ts';

const root = join(import.meta.dirname, '../..');
const kept = linesOf(resultSchema).filter(({ source }) => source.startsWith('reports/'));

test('two histories are kept', () => expect(kept).toHaveLength(2));

test.each(kept)('$source: what was noted is what its history gives', (result) => {
  const { source } = result;
  expect(readResult(openHistory(join(root, source)), source)).toEqual(result);
});

test.each(['writer-inside', 'writer-outside', 'rows-second'])('none without %s', (segment) => {
  const folder = mkdtempSync(join(tmpdir(), 'fd-case-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(join(root, kept[0]?.source ?? ''), folder, { recursive: true });
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
