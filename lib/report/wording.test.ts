import { expect, test } from 'vitest';
import type { Verdict } from '../experiment/verdict/verdict.ts';
import { exampleVerdict } from '../../test/support/example-verdict.ts';
import { advice } from './wording.ts';

const safe = (secondMount: number | null, downtimeMs: number): Verdict => ({
  ...exampleVerdict,
  ...{ verdict: 'safe', safety: 'safe' },
  phases: { ...exampleVerdict.phases, secondMount },
  availability: { ...exampleVerdict.availability, downtimeMs },
});

test('where nothing took over for long, what to do names the price and the way out', () => {
  expect(advice(safe(null, 917_000))[1]).toContain('docs/how-to/lost-node.md');
  for (const other of [safe(null, 26_000), safe(709, 720_000)]) {
    expect(advice(other)).toEqual([expect.stringMatching(/^Keep the settings/)]);
  }
});
