/** docs/internals/false-alarms.md has the count of the store, and no clean volume was flagged. */
import { expect, test } from 'vitest';
import { falseAlarmTable } from '../../research/false-alarms/table.ts';
import { volumeSchema } from '../../research/false-alarms/volume.ts';
import { linesOf } from '../../lib/batch/measurements.ts';
import { read } from './pages.ts';

const volumes = linesOf(volumeSchema);

test('the page has the count of the store', () => {
  const count = falseAlarmTable(volumes).split('\n').at(-1) ?? '';
  expect(count).toMatch(/^\d+ of \d+ clean volumes flagged/);
  expect(read('docs/internals/false-alarms.md')).toContain(count);
});

test('no clean volume was flagged', () => {
  expect(volumes.filter(({ outcome }) => outcome.flagged.length > 0)).toEqual([]);
});
