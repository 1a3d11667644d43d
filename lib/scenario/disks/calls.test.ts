/** How calls that fail or last are written, and what they become. */
import { expect, test } from 'vitest';
import { fields } from '../fields.ts';
import { CallBook, callRulesOf } from './calls.ts';

const accepts = (text: string): boolean | undefined =>
  fields['disk.calls'].text?.safeParse(text).success;

test.each([
  'honest',
  'unpublish=UNAVAILABLE',
  'unpublish=NOT_FOUND*3@node-gone',
  'unpublish=never,stage=INTERNAL*2,unstage=late:40s,nodePublish=ABORTED,nodeUnpublish=never*1',
  'publish=late:24h@csinode-gone',
])('%s is a list of calls', (text) => expect(accepts(text)).toBe(true));

test.each([
  ...['', 'unpublish', 'detach=never', 'unpublish=OK', 'unpublish=NOT_FOUND*0', 'stage=late:40'],
  ...[
    'stage=late:25h',
    'stage=late:4s*2',
    'unpublish=never,unpublish=INTERNAL',
    'honest,stage=never',
  ],
  ...['stage=INTERNAL@node-gone', 'publish=never@gone', 'unpublish=never, stage=never'],
])('%j is none', (text) => expect(accepts(text)).toBe(false));

test('what is written is what is read', () => {
  expect(callRulesOf('honest')).toEqual({});
  expect(callRulesOf('unpublish=NOT_FOUND*3@node-gone,stage=late:40s,unstage=never')).toEqual({
    unpublish: { refusal: 'NOT_FOUND', lateMs: 0, times: 3, when: 'node-gone' },
    stage: { refusal: undefined, lateMs: 40_000, times: Infinity, when: undefined },
    unstage: { refusal: 'never', lateMs: 0, times: Infinity, when: undefined },
  });
});

test('refusals are counted, and waits run, for each node', () => {
  const book = new CallBook('publish=INTERNAL*1,unpublish=late:40s');
  expect(book.ask('publish', 'a', 0)).toEqual({ refusal: 'INTERNAL' });
  expect(book.ask('publish', 'a', 0)).toBeUndefined();
  expect(book.ask('publish', 'b', 0)).toEqual({ refusal: 'INTERNAL' });
  expect(book.ask('unpublish', 'a', 0)).toEqual({ waitMs: 40_000 });
  expect(book.ask('unpublish', 'a', 30_000)).toEqual({ waitMs: 10_000 });
  expect(book.ask('unpublish', 'a', 50_000)).toEqual({ waitMs: 0 });
  book.done('publish', 'a');
  expect(book.ask('unpublish', 'a', 60_000)).toEqual({ waitMs: 40_000 });
  expect(book.ask('stage', 'a', 0)).toBeUndefined();
});
