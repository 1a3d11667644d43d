/** docs/how-to/is-my-cluster-at-risk.md names those who act as data/actors.yaml does. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { markdownTable } from '../../lib/core/numbers.ts';
import { allActors } from '../../lib/probe/actors.ts';
import { filled, read, root } from './pages.ts';

const path = 'docs/how-to/is-my-cluster-at-risk.md';

// Mend it by: npx vitest run -u --project unit test/docs
test('the table of tools is made from data/actors.yaml', async () => {
  const head = ['Tool', 'On a node that does not answer, it', 'Proof that the node is off'];
  const rows = allActors().map(({ name, does, proof }) => [name, does, proof]);
  const page = filled(read(path), { actors: `\n\n${markdownTable(head, rows)}\n` });
  await expect(page).toMatchFileSnapshot(join(root, path));
});
