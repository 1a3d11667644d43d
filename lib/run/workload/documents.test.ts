import { expect, test } from 'vitest';
import { deletionOf, documentAction } from '../../history/workload.ts';

test('the pattern: 2 and 4 put, 6 deletes what 2 put, the first longer one is kept', () => {
  const verbs = Array.from(
    { length: 12 },
    (_, seq) => documentAction({ kind: 'append', seq })?.verb,
  );
  expect(verbs.flatMap((verb, seq) => (verb === undefined ? [] : [[seq, verb]]))).toEqual([
    [2, 'put'],
    [4, 'put'],
    [6, 'delete'],
  ]);
  expect([deletionOf(2), deletionOf(4), deletionOf(132)]).toEqual([6, undefined, 261]);
  for (const put of [2, 130, 132, 260]) {
    const deletion = deletionOf(put) ?? Number.NaN;
    expect(documentAction({ kind: 'append', seq: deletion })).toEqual({
      verb: 'delete',
      seq: put,
    });
  }
});
