import type { Counts } from '../../scenario/fields.ts';
import { expect, test } from 'vitest';
import { exitCode } from '../../core/errors.ts';
import { expectationOf, expectedOf, isOpen, leastEvents } from './expectations.ts';
import { parseScenario, safetyLevels, type Scenario } from '../../scenario/scenario.ts';
import { judgeExpectation } from './serving-expectation.ts';
import { exitCodeOf, type Safety } from '../verdict/verdict.ts';

const race = parseScenario({
  name: 'race',
  question: '?',
  expected: ['safe'],
  fault: { kind: 'network-partition' },
  remedy: { kind: 'force-delete' },
});
const held = (scenario: Scenario, counts: Counts): Scenario => ({
  ...scenario,
  ...expectedOf(scenario, () => counts),
});
const codeOf = (scenario: Scenario, verdict: Safety | 'inconclusive'): number =>
  exitCodeOf({ verdict, ...judgeExpectation(scenario, { verdict, served: true }) });

test('what reasoning decides is not counted', () => {
  const fenced = parseScenario({ ...race, disk: { ...race.disk, mode: 'fenced' } });
  const never = (): never => {
    throw new Error('nobody asks');
  };
  expect(expectedOf(fenced, never)).toEqual({ expected: ['safe'] });
});

test('of what a transport itself makes of a cut', () => {
  const verdicts = (disk: object, link: 'survives' | 'stalls' = 'survives') => {
    const fault = { ...race.fault, link };
    return expectationOf(parseScenario({ ...race, fault, disk: { ...race.disk, ...disk } }))
      .verdicts;
  };
  const rbd = { transport: 'rbd' };
  // A silent victim is fenced by its successor, a living one shares the lock with it.
  expect(verdicts(rbd, 'stalls')).toEqual(['safe']);
  expect(verdicts(rbd)).not.toContain('safe');
  expect(verdicts({ transport: 'nbd' }, 'stalls')).not.toContain('safe');
  expect(verdicts({ ...rbd, mode: 'fenced', revocation: 'lock-rm' })).toEqual(['safe']);
  expect(verdicts({ ...rbd, mode: 'fenced', revocation: 'lock-rm-only' })).not.toContain('safe');
});

test('a race that nobody counted is open, and what cannot be is unexpected all the same', () => {
  const open = held(race, {});
  expect(open.expected).toEqual(['exposed', 'lost', 'corrupt']);
  for (const word of ['exposed', 'lost', 'corrupt'] as const) {
    expect(codeOf(open, word)).toBe(exitCode.open);
  }
  expect(codeOf(open, 'safe')).toBe(exitCode.unexpected);
  expect(codeOf(open, 'inconclusive')).toBe(exitCode.inconclusive);
});

test('one that was counted often enough expects what was seen, and nothing else', () => {
  const counted = held(race, { corrupt: leastEvents - 1, exposed: 1 });
  expect(counted.expected).toEqual(['exposed', 'corrupt']);
  expect(codeOf(counted, 'corrupt')).toBe(exitCode.expected);
  expect(codeOf(counted, 'exposed')).toBe(exitCode.expected);
  expect(codeOf(counted, 'lost')).toBe(exitCode.unexpected);
  expect(codeOf(counted, 'safe')).toBe(exitCode.unexpected);
});

test('one event fewer is too few', () => {
  expect(codeOf(held(race, { corrupt: leastEvents - 1 }), 'corrupt')).toBe(exitCode.open);
});

test('what may come to anything is open, also where it was counted or came from an older run', () => {
  const all = held(race, { safe: 9, exposed: 9, lost: 9, corrupt: 9 });
  expect(isOpen(all)).toBe(true);
  expect(isOpen({ expected: [...safetyLevels] })).toBe(true);
  expect(isOpen({ expected: ['exposed', 'lost', 'corrupt'] })).toBe(false);
});

test('a safe volume that nobody serves is unexpected, open or not', () => {
  const open = { ...race, expected: [...safetyLevels] };
  const { asExpected, open: isOpenRun } = judgeExpectation(open, {
    verdict: 'safe',
    served: false,
  });
  expect({ asExpected, isOpenRun }).toEqual({ asExpected: false, isOpenRun: undefined });
});
