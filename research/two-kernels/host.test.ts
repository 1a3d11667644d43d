import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { posixLine, scriptWords } from '../../lib/run/ports/node-shell.ts';
import { strict } from './host.ts';

const run = (command: string, input = ''): string =>
  execFileSync('sh', ['-c', command], { input, encoding: 'utf8' });

const line = (script: string, words: readonly string[]): string =>
  posixLine(scriptWords(strict(script), words));

test('scripts and arguments arrive as they are', () => {
  const words = ["it's", '$HOME', 'two words', '"', '\\'];
  const script = 'for word in "$@"; do printf "<%s>" "$word"; done';
  expect(run(line(script, words))).toBe(words.map((word) => `<${word}>`).join(''));
});

test('a script ends at its first failure and reads nothing of its caller', () => {
  expect(() => run(line('false; echo on', []))).toThrow();
  expect(run(`${line('cat', [])}; cat`, 'input')).toBe('input');
});
