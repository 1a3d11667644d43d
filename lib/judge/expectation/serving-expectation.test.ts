/** The second part of an expectation: who must serve after the heal, and what becomes of the whole. */
import { combined } from '../../scenario/index.ts';
import { expect, test } from 'vitest';
import { parseScenario, type ScenarioInput } from '../../scenario/scenario.ts';
import { judgeExpectation, servingExpectationOf } from './serving-expectation.ts';

/** An evicted pod and its replacement want the volume that was taken from both. */
const drawn = {
  workload: { kind: 'deployment-rolling-update' },
  remedy: { kind: 'delete-attachment' },
} as const;

const scenarioOf = (fields: Partial<ScenarioInput>): ReturnType<typeof parseScenario> =>
  parseScenario(
    combined(
      {
        name: 'test',
        question: '?',
        fault: { kind: 'network-partition' },
        remedy: { kind: 'force-delete' },
        expected: ['safe'],
      },
      fields,
    ),
  );

/** A word that is too strict fails in the drawn scenarios of test/plays/any-scenario.test.ts. */
test.each<readonly [Partial<ScenarioInput>, 'yes' | 'no' | 'open']>([
  [{ disk: { mode: 'fenced' } }, 'yes'],
  [{ disk: { mode: 'fenced' }, remedy: { kind: 'delete-node' } }, 'yes'],
  [{ remedy: { kind: 'none' } }, 'yes'],
  [{ load: { rate: 0 } }, 'open'],
  [{ disk: { calls: 'unpublish=UNAVAILABLE*3' } }, 'yes'],
  [{ disk: { calls: 'unpublish=UNAVAILABLE' } }, 'no'],
  [{ disk: { calls: 'unpublish=UNAVAILABLE', attachWhileBusy: 'granted' } }, 'open'],
  [{ disk: { calls: 'stage=late:2h' } }, 'no'],
  [{ disk: { calls: 'unpublish=NOT_FOUND@machine-gone' } }, 'open'],
  [{ disk: { calls: 'publish=never*3' } }, 'open'],
  [
    { fault: { kind: 'none' }, remedy: { kind: 'drain', at: 0 }, disk: { calls: 'unstage=never' } },
    'no',
  ],
  [{ disk: { mode: 'pending-while-busy' } }, 'open'],
  [{ disk: { mode: 'pending-while-busy' }, watch: { converge: 360_000 } }, 'yes'],
  [{ disk: { mode: 'pending-while-busy', attachWhileBusy: 'granted' } }, 'yes'],
  [{ disk: { mode: 'pending-while-busy' }, fault: { kind: 'node-crash' } }, 'yes'],
  [{ disk: { mode: 'exclusive' }, fault: { kind: 'node-crash' } }, 'yes'],
  [{ disk: { mode: 'exclusive', watcherCheck: 'missing' } }, 'no'],
  [{ disk: { mode: 'exclusive', watcherCheck: 'missing' }, fault: { kind: 'node-crash' } }, 'no'],
  [{ fault: { kind: 'node-crash', reboot: false }, remedy: { kind: 'none' } }, 'no'],
  [{ fault: { kind: 'node-crash', reboot: false } }, 'yes'],
  [{ workload: { finalizer: true } }, 'no'],
  [{ workload: { finalizer: true }, remedy: { kind: 'strip-pod-finalizer' } }, 'yes'],
  [drawn, 'open'],
  [{ ...drawn, remedy: { ...drawn.remedy, kind: 'force-delete' } }, 'yes'],
  [
    {
      remedy: { kind: 'strip-attachment-finalizer' },
      workload: { terminationGrace: 0 },
      also: { kind: 'attacher-down' },
    },
    'no',
  ],
])('%o: %s', (fields, serving) => {
  const { expected, because } = servingExpectationOf(scenarioOf(fields));
  expect(expected, because).toBe(serving);
});

test('what a scenario says itself counts', () => {
  const scenario = scenarioOf({ disk: { mode: 'fenced' }, expectedServing: 'no' });
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
