/** docs/internals/false-alarms.md says what its volumes give, and none of them was accused; `vitest -u` writes it. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { falseAlarmTable } from '../../research/false-alarms/table.ts';
import { volumeSchema } from '../../research/false-alarms/volume.ts';
import { linesOf } from '../../lib/measurements/store.ts';
import { filled, read, root } from './pages.ts';

const page = 'docs/internals/false-alarms.md';
const volumes = linesOf(volumeSchema);

test('the table is that of the volumes', async () => {
  const whole = filled(read(page), { measured: `\n\n${falseAlarmTable(volumes)}\n\n` });
  await expect(whole).toMatchFileSnapshot(join(root, page));
});

test('no clean volume was flagged', () => {
  expect(volumes.filter(({ outcome }) => outcome.flagged.length > 0)).toEqual([]);
});
