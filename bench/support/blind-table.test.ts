import { expect, test } from 'vitest';
import { strangerClasses } from '../../test/support/stranger-objects.ts';
import { committedRecords } from '../probe.ts';
import { blindTable } from './blind-table.ts';

test('of what was measured nothing is wrong or undecided, and each class is there', () => {
  const { rows } = blindTable(committedRecords());
  expect(rows.filter(({ is }) => is !== 'right')).toEqual([]);
  const names = rows.map(({ storageClass }) => storageClass);
  expect(names).toEqual(expect.arrayContaining(Object.keys(strangerClasses)));
});
