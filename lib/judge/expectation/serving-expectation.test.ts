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

test.each<readonly [Partial<ScenarioInput>, 'yes' | 'no' | 'open']>([
  [{ disk: { mode: 'fenced' } }, 'yes'],
  [{ disk: { mode: 'fenced' }, remedy: { kind: 'delete-node' } }, 'yes'],
  [{ remedy: { kind: 'none' } }, 'yes'],
  [{ remedy: { kind: 'none' }, fault: { link: 'errors' } }, 'open'],
  [{ load: { rate: 0 } }, 'open'],
  [{ disk: { mode: 'pending-while-busy' } }, 'open'],
  [{ disk: { mode: 'pending-while-busy' }, watch: { converge: 360_000 } }, 'yes'],
  [
    {
      disk: { mode: 'pending-while-busy' },
      watch: { converge: 360_000 },
      remedy: { kind: 'delete-node' },
    },
    'open',
  ],
  [{ disk: { mode: 'pending-while-busy', attachWhileBusy: 'granted' } }, 'yes'],
  [{ disk: { mode: 'pending-while-busy' }, fault: { kind: 'node-crash' } }, 'yes'],
  [{ disk: { mode: 'pending-while-busy' }, remedy: { kind: 'none' } }, 'yes'],
  [{ disk: { mode: 'exclusive' } }, 'open'],
  [{ disk: { mode: 'exclusive' }, fault: { kind: 'node-crash' } }, 'yes'],
  [{ disk: { mode: 'exclusive', watcherCheck: 'missing' } }, 'no'],
  [{ disk: { mode: 'exclusive', watcherCheck: 'missing' }, fault: { kind: 'node-crash' } }, 'no'],
  [{ disk: { mode: 'exclusive', watcherCheck: 'missing' }, remedy: { kind: 'none' } }, 'open'],
  [
    { disk: { mode: 'exclusive', watcherCheck: 'missing' }, fault: { kind: 'controller-restart' } },
    'open',
  ],
  [{ disk: { mode: 'shared-file' } }, 'open'],
  [{ volume: { filesystem: 'ext4-mmp' } }, 'open'],
  [{ fault: { kind: 'node-crash', reboot: false }, remedy: { kind: 'none' } }, 'no'],
  [{ fault: { kind: 'node-crash', reboot: false } }, 'yes'],
  [{ workload: { finalizer: true } }, 'no'],
  [{ workload: { finalizer: true }, fault: { kind: 'node-reboot' } }, 'open'],
  [{ workload: { finalizer: true }, remedy: { kind: 'strip-pod-finalizer' } }, 'yes'],
  [{ remedy: { kind: 'delete-attachment' } }, 'open'],
  [drawn, 'open'],
  [{ ...drawn, fault: { kind: 'node-crash', reboot: false } }, 'open'],
  [
    { ...drawn, fault: { kind: 'freeze' }, disk: { mode: 'exclusive', watcherCheck: 'missing' } },
    'open',
  ],
  [
    {
      ...drawn,
      fault: { kind: 'node-crash' },
      disk: { mode: 'exclusive', watcherCheck: 'missing' },
    },
    'no',
  ],
  [{ ...drawn, fault: { kind: 'none' }, remedy: { ...drawn.remedy, at: 0 } }, 'open'],
  [{ ...drawn, remedy: { ...drawn.remedy, kind: 'force-delete' } }, 'yes'],
  [{ fault: { serverKills: 2 } }, 'open'],
  [{ remedy: { kind: 'force-delete', moveBack: true } }, 'open'],
  [{ remedy: { kind: 'delete-node' }, timers: { forceDetach: 'off' } }, 'open'],
  [{ remedy: { kind: 'delete-node' }, watch: { horizon: 200_000 } }, 'open'],
  [{ remedy: { kind: 'out-of-service', untaintAt: 100 } }, 'open'],
  [{ fault: { link: 'errors' }, watch: { horizon: 200_000 } }, 'open'],
  [
    { workload: { finalizer: true }, remedy: { kind: 'strip-pod-finalizer', at: 'not-ready' } },
    'open',
  ],
  [{ watch: { converge: 30_000 } }, 'open'],
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
