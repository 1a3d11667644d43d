/** docs/reference/kubernetes-versions.md says what was measured; `vitest -u` writes its tables. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { batchesByMinor, measuredTables, page, runsOf, versionsTable } from './versions-page.ts';

test('the page has the versions that there are, and what was measured', async () => {
  const text = readFileSync(page, 'utf8');
  const [head, , middle, , tail] = text.split(/<!-- (?:end )?(?:versions|measured) -->\n/);
  const whole = [
    `${head}<!-- versions -->\n${versionsTable()}\n<!-- end versions -->\n${middle}`,
    `<!-- measured -->\n${measuredTables()}\n<!-- end measured -->\n${tail}`,
  ].join('');
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
  const all = [...batchesByMinor.keys()].map((minor) =>
    [...runsOf(minor)].map(([id, { verdict }]) => `${id} ${verdict}`),
  );
  for (const verdicts of all) expect(verdicts).toEqual(all[0]);
});
