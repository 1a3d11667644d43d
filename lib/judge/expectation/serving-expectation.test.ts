/** The second part of an expectation: who must serve after the heal, and what becomes of the whole. */
import { expect, test } from 'vitest';
import { parseScenario, type ScenarioInput } from '../../scenario/scenario.ts';
import { judgeExpectation, servingExpectationOf } from './serving-expectation.ts';

/** An evicted pod and its replacement want the volume that was taken from both. */
const drawn = { workload: 'deployment-rolling-update', remedy: 'delete-attachment' } as const;

const scenarioOf = (fields: Partial<ScenarioInput>): ReturnType<typeof parseScenario> =>
  parseScenario({
    ...{ name: 'test', question: '?', fault: 'network-partition', remedy: 'force-delete' },
    ...{ expected: ['safe'], ...fields },
  });

test.each<readonly [Partial<ScenarioInput>, 'yes' | 'no' | 'open']>([
  [{ disk: 'fenced' }, 'yes'],
  [{ disk: 'fenced', remedy: 'delete-node' }, 'yes'],
  [{ remedy: 'none' }, 'yes'],
  [{ remedy: 'none', link: 'errors' }, 'open'],
  [{ rate: 0 }, 'open'],
  [{ disk: 'pending-while-busy' }, 'open'],
  [{ disk: 'pending-while-busy', convergeMs: 360_000 }, 'yes'],
  [{ disk: 'pending-while-busy', convergeMs: 360_000, remedy: 'delete-node' }, 'open'],
  [{ disk: 'pending-while-busy', attachWhileBusy: 'granted' }, 'yes'],
  [{ disk: 'pending-while-busy', fault: 'node-crash' }, 'yes'],
  [{ disk: 'pending-while-busy', remedy: 'none' }, 'yes'],
  [{ disk: 'exclusive' }, 'open'],
  [{ disk: 'exclusive', fault: 'node-crash' }, 'yes'],
  [{ disk: 'exclusive', watcherCheck: 'missing' }, 'no'],
  [{ disk: 'exclusive', watcherCheck: 'missing', fault: 'node-crash' }, 'no'],
  [{ disk: 'exclusive', watcherCheck: 'missing', remedy: 'none' }, 'no'],
  [{ disk: 'exclusive', watcherCheck: 'missing', fault: 'controller-restart' }, 'open'],
  [{ disk: 'shared-file' }, 'open'],
  [{ filesystem: 'ext4-mmp' }, 'open'],
  [{ fault: 'node-crash', remedy: 'none', reboot: false }, 'no'],
  [{ fault: 'node-crash', reboot: false }, 'yes'],
  [{ podFinalizer: true }, 'no'],
  [{ podFinalizer: true, fault: 'node-reboot' }, 'open'],
  [{ podFinalizer: true, remedy: 'strip-pod-finalizer' }, 'yes'],
  [{ remedy: 'delete-attachment' }, 'open'],
  [drawn, 'open'],
  [{ ...drawn, fault: 'node-crash', reboot: false }, 'open'],
  [{ ...drawn, fault: 'freeze', disk: 'exclusive', watcherCheck: 'missing' }, 'open'],
  [{ ...drawn, fault: 'node-crash', disk: 'exclusive', watcherCheck: 'missing' }, 'no'],
  [{ ...drawn, fault: 'none', remedyAt: 0 }, 'open'],
  [{ ...drawn, remedy: 'force-delete' }, 'yes'],
  [{ serverKills: 2 }, 'open'],
  [{ convergeMs: 30_000 }, 'open'],
  [{ remedy: 'strip-attachment-finalizer', terminationGraceS: 0, also: 'attacher-down' }, 'no'],
])('%o: %s', (fields, serving) => {
  const { expected, because } = servingExpectationOf(scenarioOf(fields));
  expect(expected, because).toBe(serving);
});

test('what a scenario says itself counts', () => {
  const scenario = scenarioOf({ disk: 'fenced', expectedServing: 'no' });
  expect(servingExpectationOf(scenario).expected).toBe('no');
});

test.each([
  [true, 'yes', true],
  [false, 'yes', false],
  [true, 'no', false],
  [false, 'no', true],
  [false, 'open', true],
] as const)(
  'safe, served %s where %s is expected: as expected %s',
  (served, serving, asExpected) => {
    const scenario = scenarioOf({ expectedServing: serving });
    const judged = judgeExpectation(scenario, { verdict: 'safe', served });
    expect(judged).toMatchObject({ asExpected, serving: { served, asExpected } });
    // The word is the first part, and no service makes up for it.
    const other = { ...scenario, expected: ['exposed'] } as const;
    expect(
      judgeExpectation({ ...other, expected: ['exposed'] }, { verdict: 'safe', served }),
    ).toMatchObject({ asExpected: false, serving: { asExpected } });
  },
);

test('a damaged disk may serve or not; an older result does not tell', () => {
  const scenario = scenarioOf({ expected: ['corrupt', 'safe'], expectedServing: 'yes' });
  const { serving, asExpected } = judgeExpectation(scenario, { verdict: 'corrupt', served: false });
  expect({ asExpected, expected: serving.expected }).toEqual({
    asExpected: true,
    expected: 'open',
  });
  expect(judgeExpectation(scenario, { verdict: 'safe', served: null }).asExpected).toBe(true);
});
