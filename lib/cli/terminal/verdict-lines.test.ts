/** The last three lines are short, whatever the verdict, and coloured for a terminal alone. */
import { PassThrough } from 'node:stream';
import { WriteStream } from 'node:tty';
import { afterEach, expect, test, vi } from 'vitest';
import { exampleVerdict } from '../../../test/support/example-verdict.ts';
import { verdictWords } from '../../scenario/scenario.ts';
import { headlineOf } from '../../judge/verdict/words.ts';
import type { Verdict } from '../../judge/verdict/verdict.ts';
import { verdictLines } from './verdict-lines.ts';

const linesOf = (verdict: Verdict, report: string, stream?: NodeJS.WriteStream): string =>
  verdictLines({ verdict, headline: headlineOf(verdict) }, report, stream);

/** Node's own answer for a colour terminal; a CI's variables, where these tests run in one, aside. */
const terminal = (isTTY: boolean): NodeJS.WriteStream =>
  Object.assign(new PassThrough(), {
    isTTY,
    getColorDepth: () =>
      WriteStream.prototype.getColorDepth({
        TERM: 'xterm-256color',
        NO_COLOR: process.env['NO_COLOR'],
      }),
  }) as unknown as NodeJS.WriteStream;

afterEach(() => vi.unstubAllEnvs());

test.each(verdictWords)('%s: three lines, and at most fifteen words of what was found', (word) => {
  for (const secondMount of [null, 714.2]) {
    const phases = { ...exampleVerdict.phases, secondMount };
    for (const ms of [0, 31_000]) {
      const exposure = { ...exampleVerdict.exposure, ms };
      const serving = { ...exampleVerdict.serving, served: false };
      const told = { ...exampleVerdict, verdict: word, phases, exposure, serving };
      const lines = linesOf(told, 'reports/x/report.html').split('\n');
      expect(lines).toHaveLength(3);
      expect(lines[0]).toMatch(new RegExp(`^${word.toUpperCase()} \\(`));
      expect(lines[1]?.split(' ').length, lines[1]).toBeLessThanOrEqual(15);
      expect(lines[2]).toBe('Report: reports/x/report.html');
    }
  }
});

test('the word is coloured on a terminal, and not where NO_COLOR is set or no terminal is there', () => {
  vi.stubEnv('NO_COLOR', undefined);
  vi.stubEnv('FORCE_COLOR', undefined);
  expect(linesOf(exampleVerdict, 'x', terminal(true))).toContain('\u001B[31mLOST');
  expect(linesOf(exampleVerdict, 'x', terminal(false))).toMatch(/^LOST/);
  vi.stubEnv('NO_COLOR', '1');
  expect(linesOf(exampleVerdict, 'x', terminal(true))).toMatch(/^LOST/);
});
