/** A case's result is read from its history alone; where evidence is missing there is none. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openHistory } from '../history/reader.ts';
import { readResult } from './read-result.ts';
import { parseResults } from './result.ts';

const samples = join(import.meta.dirname, '../../reports/two-kernels/samples');
const told = parseResults(readFileSync(join(samples, 'results.jsonl'), 'utf8'));
const names = told.map(({ case: name, host, filesystem }) => `${name}-${host}-${filesystem}`);

test.each(told.map((result, index) => [names[index] ?? '', result] as const))(
  '%s: what its run told is what its history gives',
  (name, result) => expect(readResult(openHistory(join(samples, name)))).toEqual(result),
);

test.each(['writer-inside', 'writer-outside', 'rows-second'])('none without %s', (segment) => {
  const folder = mkdtempSync(join(tmpdir(), 'fd-case-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(join(samples, names[0] ?? ''), folder, { recursive: true });
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
