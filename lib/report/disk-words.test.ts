/** Whom a verdict concerns: the settings that decided are named, and those that are stock are not. */
import { expect, test } from 'vitest';
import type { Verdict } from '../experiment/verdict.ts';
import { appliesIf } from './disk-words.ts';
import { exampleVerdict } from './example-verdict.ts';

const told = (verdict: Verdict): string => appliesIf(verdict).join('\n');

test.each<[Record<string, unknown>, string]>([
  [{ forceDetach: 'off' }, '--disable-force-detach-on-timeout'],
  [{ terminationGraceS: 0 }, 'terminationGracePeriodSeconds: 0'],
  [{ workload: 'deployment-recreate' }, 'a Deployment'],
  [{ selfFence: 'lease' }, 'a sidecar'],
  [{ rate: 0 }, 'nobody writes'],
])('a reader hears of the setting that decided: %j', (fields, words) => {
  const scenario = { ...exampleVerdict.scenario, ...fields };
  expect(told({ ...exampleVerdict, scenario })).toContain(words);
  expect(told(exampleVerdict)).not.toContain(words);
});
