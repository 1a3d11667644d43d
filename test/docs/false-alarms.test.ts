/** docs/internals/false-alarms.md says what its volumes give, and none of them was accused. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { falseAlarmTable } from '../../lib/false-alarms/table.ts';
import { parseVolumes } from '../../lib/false-alarms/volume.ts';

const volumes = parseVolumes(readFileSync('reports/false-alarms/volumes.jsonl', 'utf8'));

test('the table is that of the volumes', () => {
  const page = readFileSync('docs/internals/false-alarms.md', 'utf8');
  const [, table] = /<!-- measured -->\n\n(.*)\n\n<!-- end -->/s.exec(page) ?? [];
  expect(table).toBe(falseAlarmTable(volumes));
});

test('no clean volume was flagged', () => {
  expect(volumes.filter(({ flagged }) => flagged.length > 0)).toEqual([]);
});
