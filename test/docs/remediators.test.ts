/** docs/reference/remediators.md is made from data/remediators.yaml and the model. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { filled, read, root } from './pages.ts';
import { fates, path, predicted, remediatorParts, remediators } from './remediators-page.ts';

// Mend it by: npx vitest run -u --project unit test/docs
test('docs/reference/remediators.md is made from the remediators and the model', async () => {
  await expect(filled(read(path), remediatorParts)).toMatchFileSnapshot(join(root, path));
});

test('who has it confirmed that the node is dead harms none, and who has not harms some', () => {
  const harms = remediators.map((each) => ({
    name: each.name,
    isAsked: !each.asks.startsWith('nobody'),
    isHarmless: fates.every((fate) => predicted(each, fate).words.join() === 'safe'),
  }));
  expect(harms.filter(({ isAsked, isHarmless }) => isAsked !== isHarmless)).toEqual([]);
});
