import { expect, test } from 'vitest';
import { certificateTable } from './html.ts';

test('a probe that was asked again has one row, and one that answered otherwise its own', async () => {
  const probe = {
    fault: 'freeze',
    moment: 'during',
    claim: 'the victim is off',
    evidence: 'off',
  } as const;
  const answers = [true, true, false, true].map((holds) => ({ ...probe, holds }));
  const rows = String(await certificateTable(answers)).match(/<td>(yes|NO)<\/td><td>[^<]*/g);
  expect(rows).toEqual(['<td>yes</td><td>during, 3 times', '<td>NO</td><td>during']);
});
