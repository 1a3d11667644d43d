import { expect, test } from 'vitest';
import { isName, layoutOf, volumeFolder } from './layout.ts';

test.each(['..', '.', '', 'a/b', '../a', '-a'])('%j names nothing', (name) => {
  expect(isName(name)).toBe(false);
  expect(() => volumeFolder(layoutOf('/root'), name)).toThrow(/is not a valid name of a volume/);
});
