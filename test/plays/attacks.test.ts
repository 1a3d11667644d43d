/** A sample of the attacks on the evidence: none escapes, but those of which the list says why. */
import { expect, test } from 'vitest';
import bench from '../../bench/evidence.ts';

test('200 attacks on real histories are noticed, and what is within a tolerance is not', async () => {
  const { data } = await bench({ onProgress: () => undefined, count: 200 });
  expect(data).toMatchObject({ escaped: [], flagged: [], twinsFlagged: 0 });
  expect(data['attacks']).toBeGreaterThan(100);
  const pairs = data['pairs'] as { readonly attacks: number; readonly escaped: readonly string[] };
  expect(pairs.escaped).toEqual([]);
  expect(pairs.attacks).toBeGreaterThan(8);
});
