import { expect, test } from 'vitest';
import { readAttributes } from './requests.ts';

test.each([
  { detachMode: 'sometimes' },
  { cutAfterMs: '-1' },
  { cutAfterMs: 'soon' },
  { keepWrites: 'yes' },
])('attributes %j are refused', (context) => {
  expect(() => readAttributes(context)).toThrow(/volume attributes: /);
});
