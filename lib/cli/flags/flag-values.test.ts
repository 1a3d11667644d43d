import { InvalidArgumentError } from 'commander';
import { expect, test } from 'vitest';
import { outputFile } from './flag-values.ts';

test('a file that could not be written is refused when the flag is read', () => {
  expect(outputFile('answer.json')).toBe('answer.json');
  for (const path of ['/no-such-folder/answer.json', 'package.json/answer.json', 'lib', '']) {
    expect(() => outputFile(path), path).toThrow(InvalidArgumentError);
  }
});
