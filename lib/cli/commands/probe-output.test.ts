/** A certificate goes to every file that was asked for, whichever kind it is. */
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { sealOf } from '../../core/files.ts';
import { writeAnswer, writeCertificate } from './probe.ts';

const folder = mkdtempSync(join(tmpdir(), 'forcedetach-output-'));
afterAll(() => rmSync(folder, { recursive: true }));
const inFolder = (name: string): string => join(folder, name);

const forms = {
  text: ({ word }: { word: string }) => `text ${word}`,
  html: ({ word }: { word: string }) => Promise.resolve(`html ${word}`),
  junit: ({ word }: { word: string }) => Promise.resolve(`junit ${word}`),
};

const certificate = JSON.stringify({ word: 'fenced', seal: sealOf({ word: 'fenced' }) });

test.each([
  ['text', 'text fenced'],
  ['json', certificate],
] as const)(
  'as %s on the terminal, and as JSON, a page and JUnit XML in files',
  async (output, told) => {
    const stdout = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const files = { out: inFolder('a.json'), html: inFolder('a.html'), junit: inFolder('a.xml') };
    await writeCertificate({ ...files, output }, 'unused.json', { word: 'fenced' }, forms);
    const printed = stdout.mock.calls.map(([text]) => String(text));
    stdout.mockRestore();
    stderr.mockRestore();
    expect(printed).toEqual([`${told}\n`]);
    expect(Object.values(files).map((path) => readFileSync(path, 'utf8'))).toEqual([
      ...[`${certificate}\n`, 'html fenced', 'junit fenced'],
    ]);
  },
);

test('an answer that measured nothing makes no file unless it is asked for', async () => {
  const stdout = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const before = readdirSync('.');
  await writeAnswer({ output: 'json' }, { word: 'fenced' }, forms);
  await writeAnswer({ output: 'text', out: inFolder('p.json') }, { word: 'fenced' }, forms);
  const printed = stdout.mock.calls.map(([text]) => String(text));
  stdout.mockRestore();
  expect(printed).toEqual(['{"word":"fenced"}\n', 'text fenced\n']);
  expect(readdirSync('.')).toEqual(before);
  expect(readFileSync(inFolder('p.json'), 'utf8')).toBe('{"word":"fenced"}\n');
});
