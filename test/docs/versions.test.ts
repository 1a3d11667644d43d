/** docs/reference/kubernetes-versions.md has each version (`vitest -u` writes the table), and a batch ran on each minor. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { batchesByMinor, page, versionsTable } from './versions-page.ts';

test('the page has the versions that there are', async () => {
  const text = readFileSync(page, 'utf8');
  const [head, , tail] = text.split(/<!-- (?:end )?versions -->\n/);
  const whole = `${head}<!-- versions -->\n${versionsTable()}\n<!-- end versions -->\n${tail}`;
  await expect(whole).toMatchFileSnapshot(join('../..', page));
});

test.each([...batchesByMinor])(
  'the batch of %s is of that minor, and came as expected',
  (minor, batch) => {
    expect(
      batch.versions?.['kubernetes']?.every((version) => version.startsWith(`${minor}.`)),
    ).toBe(true);
    expect({ cluster: batch.cluster, basis: batch.basis }).toEqual({
      cluster: 'kind',
      basis: 'shortened',
    });
    expect(batch.cells.filter(({ asExpected }) => !asExpected)).toEqual([]);
  },
);

test('every minor comes to the same verdicts', () => {
  const all = [...batchesByMinor.values()].map(({ cells }) =>
    cells.map(({ id, verdict }) => `${id} ${verdict}`),
  );
  for (const verdicts of all) expect(verdicts).toEqual(all[0]);
});
