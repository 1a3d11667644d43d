/** docs/reference/kubernetes-versions.md has each version (`vitest -u` writes the table), and a batch ran on each minor. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { page, versionsTable } from './versions-page.ts';

test('the page has the versions that there are', async () => {
  const text = readFileSync(page, 'utf8');
  const [head, , tail] = text.split(/<!-- (?:end )?versions -->\n/);
  const whole = `${head}<!-- versions -->\n${versionsTable()}\n<!-- end versions -->\n${tail}`;
  await expect(whole).toMatchFileSnapshot(join('../..', page));
});
