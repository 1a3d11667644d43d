/** Expected verdicts: every combination has some, with a reason; the telling ones are as thought. */
import { expect, test } from 'vitest';
import { filesystems, storageLinks } from '../../disk-kinds.ts';
import { diskModes } from '../../disk-modes/index.ts';
import { remedyKinds } from '../../remedies/kinds/index.ts';
import { contradictions } from '../contradictions.ts';
import { expectationOf } from './expectations.ts';
import { accessModes } from '../../storage/fields.ts';
import { parseScenario, type Scenario, type ScenarioInput } from '../scenario.ts';

const of = (fields: Partial<ScenarioInput>): string => {
  const base = { name: 'test', question: '?', fault: 'network-partition', expected: ['safe'] };
  const scenario = parseScenario({ ...base, remedy: 'force-delete', ...fields });
  return expectationOf(scenario).verdicts.join();
};

const damage = 'lost,corrupt';
/** A race: chance decides. */
const overlap = 'exposed,lost,corrupt';

test.each<readonly [Partial<ScenarioInput>, string]>([
  [{}, overlap],
  [{ rate: 0 }, overlap],
  [{ remedy: 'none' }, 'safe'],
  [{ disk: 'fenced' }, 'safe'],
  [{ disk: 'fenced', link: 'stalls' }, 'safe'],
  [{ disk: 'fenced', accessMode: 'ReadWriteOncePod' }, 'safe'],
  [{ disk: 'fenced', accessMode: 'ReadWriteMany' }, overlap],
  [{ disk: 'fenced', accessMode: 'ReadWriteMany', remedy: 'out-of-service' }, 'safe'],
  [{ disk: 'ack-early' }, overlap],
  [{ disk: 'ack-early', cutAfterMs: 0 }, 'safe'],
  [{ disk: 'ack-early', link: 'stalls' }, 'safe'],
  [{ disk: 'ack-early', cutAfterMs: 600_000 }, overlap],
  [{ disk: 'pending-while-busy' }, 'safe'],
  [{ disk: 'fence-if-out-of-service' }, overlap],
  [{ disk: 'fence-if-out-of-service', remedy: 'out-of-service' }, 'safe'],
  [{ disk: 'exclusive' }, 'safe'],
  [{ disk: 'exclusive', watcherCheck: 'missing', link: 'stalls' }, 'safe'],
  [{ disk: 'exclusive', link: 'stalls' }, overlap],
  [{ disk: 'exclusive', link: 'errors' }, overlap],
  [{ disk: 'reservation', link: 'stalls' }, 'safe'],
  [{ disk: 'shared-file' }, 'safe'],
  [{ disk: 'shared-file', fileLocks: 'local' }, overlap],
  [{ filesystem: 'ext4-mmp' }, 'safe,exposed'],
  [{ filesystem: 'ext4-mmp', link: 'stalls' }, overlap],
  [{ filesystem: 'xfs' }, overlap],
  [{ accessMode: 'ReadWriteMany', disk: 'reservation' }, 'safe'],
  [{ also: 'lease-write', alsoAt: 5000 }, 'safe'],
  [{ also: 'lease-write', alsoAt: 5000, kubernetes: '1.36' }, overlap],
  [
    {
      ...{ also: 'lease-write', alsoAt: 5000 },
      featureGates: { NodeControllerLeaseCircuitBreaker: false },
    },
    overlap,
  ],
  [{ also: 'lease-write', alsoAt: 'half-wait' }, overlap],
  // The watch may end before the hand-over.
  [{ also: 'attacher-down' }, overlap],
  [{ also: 'attacher-down', alsoForMs: 1_200_000 }, `safe,${overlap}`],
  [{ fault: 'kubelet-stall', also: 'api-outage', alsoForMs: 1_200_000 }, `safe,${overlap}`],
  [{ also: 'controller-restart', alsoForMs: 1_200_000 }, overlap],
  [{ horizonMs: 500_000 }, `safe,${overlap}`],
  [{ remedyAt: 600_000 }, `safe,${overlap}`],
  [{ also: 'lease-write', alsoAt: 5000, remedy: 'delete-node' }, overlap],
  [{ fault: 'node-crash' }, 'safe'],
  [{ fault: 'node-crash', powerLoss: 'reorders' }, 'safe'],
  [{ fault: 'node-crash', powerLoss: 'tears' }, 'safe,corrupt'],
  [{ fault: 'node-crash', trxCommit: 2 }, 'safe,lost'],
  [{ disk: 'ack-early', cutAfterMs: 1000 }, `safe,${overlap}`],
  [{ fault: 'node-crash', flushes: 'ignored' }, 'safe'],
  [{ fault: 'node-crash', flushes: 'ignored', powerLoss: 'drops' }, damage],
  [{ fault: 'node-reboot', rebootAt: 'force-detach' }, 'safe'],
  [{ fault: 'freeze' }, overlap],
  [{ fault: 'freeze', disk: 'fenced' }, 'safe'],
  [{ fault: 'freeze', filesystem: 'ext4-mmp' }, `safe,${overlap}`],
  [{ fault: 'kubelet-stall' }, overlap],
  [{ fault: 'kubelet-stall', remedy: 'none' }, 'safe'],
  [{ fault: 'runtime-stall', disk: 'reservation' }, 'safe'],
  [{ fault: 'api-partition' }, overlap],
  [{ remedy: 'delete-node' }, overlap],
  [{ remedy: 'drain' }, 'safe'],
  [{ remedy: 'delete' }, 'safe'],
  [{ remedy: 'delete', terminationGraceS: 0 }, overlap],
  [{ remedy: 'none', terminationGraceS: 0 }, overlap],
  [{ remedy: 'none', terminationGraceS: 0, forceDetach: 'off' }, 'safe'],
  [{ remedy: 'none', terminationGraceS: 0, disk: 'fenced' }, 'safe'],
  [{ remedy: 'fence-first' }, 'safe'],
  [{ remedy: 'fence-first', link: 'stalls' }, 'safe'],
  [{ remedy: 'force-delete', forceDetach: 'off' }, 'safe'],
  [{ remedy: 'out-of-service', forceDetach: 'off' }, overlap],
  [{ remedy: 'out-of-service', untaintAt: 'heal' }, overlap],
  [{ remedy: 'out-of-service', untaintAt: 5000 }, `safe,${overlap}`],
  [{ remedy: 'out-of-service', untaintAt: 60_000 }, overlap],
  [{ remedy: 'out-of-service', podFinalizer: true }, 'safe'],
  [{ remedy: 'force-delete', podFinalizer: true }, 'safe'],
  [{ remedy: 'strip-pod-finalizer', podFinalizer: true }, overlap],
  [{ remedy: 'delete-attachment' }, 'safe'],
  [{ remedy: 'delete-attachment', remedyAt: 'pod-gone', terminationGraceS: 0 }, overlap],
  [{ remedy: 'strip-attachment-finalizer', terminationGraceS: 0 }, `safe,${overlap}`],
  [{ remedy: 'strip-attachment-finalizer', terminationGraceS: 0, disk: 'fenced' }, 'safe'],
  [{ remedy: 'strip-attachment-finalizer', terminationGraceS: 0, also: 'attacher-down' }, 'safe'],
  [{ remedy: 'delete-attachment', workload: 'deployment-recreate' }, `safe,${overlap}`],
  [{ remedy: 'none', workload: 'deployment-recreate' }, 'safe'],
  [{ remedy: 'none', workload: 'deployment-recreate', accessMode: 'ReadWriteMany' }, overlap],
  [{ fault: 'none', remedy: 'out-of-service', remedyAt: 0 }, `safe,${overlap}`],
  [{ fault: 'none', remedy: 'drain', remedyAt: 0 }, 'safe'],
  [{ fault: 'none', remedy: 'force-delete', remedyAt: 0 }, 'safe'],
  [{ fault: 'none', remedy: 'delete-node', remedyAt: 0 }, `safe,${overlap}`],
])('%o: %s', (fields, verdicts) => {
  expect(of(fields)).toBe(verdicts);
});

test('every combination has verdicts and a reason', () => {
  const base = parseScenario({
    name: 'test',
    question: '?',
    fault: 'network-partition',
    expected: ['safe'],
  });
  const all: Scenario[] = remedyKinds.flatMap((remedy) =>
    diskModes.flatMap((disk) =>
      storageLinks.flatMap((link) =>
        filesystems.flatMap((filesystem) =>
          accessModes.map((accessMode) => ({
            ...base,
            ...{ remedy, disk, link, filesystem, accessMode },
          })),
        ),
      ),
    ),
  );
  const fitting = all.filter((scenario) => contradictions(scenario).length === 0);
  expect(fitting.length).toBeGreaterThan(500);
  for (const scenario of fitting) {
    const { verdicts, because, isRace } = expectationOf(scenario);
    expect(verdicts.length).toBeGreaterThan(0);
    expect(because).not.toBe('');
    if (scenario.remedy === 'none') expect(verdicts).toEqual(['safe']);
    // Lost and corrupt are one grade.
    expect(isRace).toBe(
      verdicts.includes('safe') ? verdicts.length > 1 : verdicts.includes('exposed'),
    );
  }
});
