import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { shellCommand } from './host.ts';

const run = (command: string, input = ''): string =>
  execFileSync('sh', ['-c', command], { input, encoding: 'utf8' });

test('scripts and arguments arrive as they are', () => {
  const words = ["it's", '$HOME', 'two words', '"', '\\'];
  const script = 'for word in "$@"; do printf "<%s>" "$word"; done';
  expect(run(shellCommand(script, words))).toBe(words.map((word) => `<${word}>`).join(''));
});

test('a script ends at its first failure and reads nothing of its caller', () => {
  expect(() => run(shellCommand('false; echo on', []))).toThrow();
  expect(run(`${shellCommand('cat', [])}; cat`, 'input')).toBe('input');
});
