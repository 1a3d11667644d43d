import { expect, test } from 'vitest';
import { parseScenario, type ScenarioInput } from '../experiment/scenario.ts';
import { ruleOf } from './rule.ts';

const says = (settings: Partial<ScenarioInput>): boolean =>
  ruleOf(
    parseScenario({
      ...{ name: 'n', question: 'q', fault: 'network-partition', remedy: 'force-delete' },
      ...settings,
      expected: ['safe'],
    }),
  ).damage;

test('a living victim, no fence, a second mount: damage, whatever the rate and the link', () => {
  expect(says({})).toBe(true);
  expect(says({ rate: 0 })).toBe(true);
  expect(says({ link: 'errors' })).toBe(true);
  expect(says({ disk: 'ack-early', cutAfterMs: 1 })).toBe(true);
});

test('one of the three missing: none', () => {
  expect(says({ fault: 'node-crash', trxCommit: 0 })).toBe(false);
  expect(says({ disk: 'fenced' })).toBe(false);
  expect(says({ disk: 'exclusive', link: 'stalls' })).toBe(false);
  expect(says({ remedy: 'none' })).toBe(false);
  expect(says({ disk: 'fence-if-out-of-service' })).toBe(true);
  expect(says({ disk: 'fence-if-out-of-service', remedy: 'out-of-service' })).toBe(false);
});
