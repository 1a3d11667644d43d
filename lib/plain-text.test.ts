import { expect, test } from 'vitest';
import { describeError, UsageError } from './errors.ts';
import { plainText } from './plain-text.ts';

test('what a terminal would obey is shown', () => {
  expect(plainText('\u001b[2J\u0007\u009b31m')).toBe('\\u001b[2J\\u0007\\u009b31m');
  expect(plainText('safe\rlost')).toBe('safe\\u000dlost');
  expect(plainText('\u202egnp.exe')).toBe('\\u202egnp.exe');
});

test('words, lines and letters of any language stay', () => {
  expect(plainText('it’s\ta\ntést — 数据')).toBe('it’s\ta\ntést — 数据');
});

test('so are the words of errors and of what is underneath', () => {
  const error = new UsageError('BAD', 'a\u001b[31m', { cause: new Error('\u001b]0;title\u0007') });
  expect(describeError(error)).not.toContain('\u001b');
});
