/** Any scenario that may be written, with times so short that hundreds of them can be run. */
import {
  type FieldName,
  type SettableName,
  valueAt,
  withValues,
} from '../../lib/scenario/index.ts';
import fc from 'fast-check';
import { filesystems, powerLosses, storageLinks } from '../../lib/scenario/disk-kinds.ts';
import { diskModes, accessModes } from '../../lib/scenario/disks/index.ts';
import { parseScenario, verdictWords, type Scenario } from '../../lib/scenario/scenario.ts';
import { alsoTargets, faultKinds, secondFaults } from '../../lib/scenario/faults/index.ts';
import { driverEnds } from '../../lib/scenario/faults/node-shutdown.ts';
import { kubernetesMinors } from '../../lib/core/kubernetes.ts';
import { remedyKinds } from '../../lib/scenario/remedies/index.ts';
import { selfFences, workloads } from '../../lib/scenario/workload.ts';
import { plainScenario, settle } from '../../lib/sweep/schedule.ts';
import { alsoEvents, remedyEvents, undoEvents } from '../../lib/core/time.ts';

const oneOf = <T>(values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values);
const seconds = (from: number, to: number): fc.Arbitrary<number> =>
  fc.integer({ min: from * 10, max: to * 10 }).map((tenths) => tenths * 100);
const moment = oneOf(alsoEvents);
/** The usual value in most of them: where all is unusual at once, little happens. */
const rarely = <T>(field: FieldName, other: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant(valueAt(plainScenario, field)) },
    { weight: 1, arbitrary: other },
  );

/** Others follow from the rest, or go with a group. */
type Fields = Readonly<
  Record<
    Exclude<SettableName, `database.${string}`> | `database.${'trxCommit' | 'binlog'}` | 'expected',
    fc.Arbitrary<unknown>
  >
>;

/** A field that a scenario gets one day has to be here as well. */
const fields: Fields = {
  'fault.kind': oneOf(faultKinds),
  'fault.reboot': fc.boolean(),
  'fault.rebootAt': fc.oneof(fc.constant('force-detach'), seconds(0, 90)),
  'fault.cpuShare': oneOf([0.001, 0.005, 0.02, 0.1]),
  'fault.clockBack': seconds(1, 120),
  'fault.down': seconds(1, 60),
  'fault.up': seconds(1, 30),
  'fault.shutdownGrace': oneOf([0, 30_000]),
  'fault.driverEnds': oneOf(driverEnds),
  'fault.drainFor': oneOf([0, 1_000, 20_000]),
  'fault.serverKills': rarely('fault.serverKills', fc.integer({ min: 2, max: 5 })),
  'also.kind': fc.oneof(fc.constant('none'), oneOf(secondFaults)),
  'also.at': fc.oneof(moment, seconds(0, 60)),
  'also.on': oneOf(alsoTargets),
  'also.for': fc.oneof(seconds(1, 60), fc.constant(9_000_000)),
  'remedy.kind': oneOf(remedyKinds),
  'remedy.at': fc.oneof(oneOf(remedyEvents), seconds(0, 60)),
  'remedy.untaintAt': fc.oneof(oneOf(undoEvents), seconds(0, 60)),
  'workload.terminationGrace': rarely('workload.terminationGrace', oneOf([0, 1000, 5000, 120_000])),
  'workload.finalizer': rarely('workload.finalizer', fc.constant(true)),
  'timers.forceDetach': rarely('timers.forceDetach', fc.constant('off')),
  'remedy.ifOff': fc.boolean(),
  'remedy.moveBack': fc.boolean(),
  'remedy.sameNode': fc.boolean(),
  'fault.recreations': rarely('fault.recreations', fc.integer({ min: 1, max: 4 })),
  'workload.preStop': rarely(
    'workload.preStop',
    fc.integer({ min: 1, max: 20 }).map((s) => s * 1000),
  ),
  'workload.kind': oneOf(workloads), // The model has no provisioner, and refuses what would need one.
  'volume.provision': fc.constant('static'),
  'disk.mode': fc.oneof(fc.constant('unfenced'), oneOf(diskModes)),
  'disk.cutAfter': seconds(0, 30),
  'disk.watcherCheck': oneOf(['works', 'missing'] as const),
  'disk.attachWhileBusy': oneOf(['refused', 'granted'] as const),
  'disk.fileLocks': oneOf(['shared', 'local'] as const),
  'fault.link': oneOf(storageLinks),
  'volume.filesystem': rarely('volume.filesystem', oneOf(filesystems)),
  'volume.accessMode': rarely('volume.accessMode', oneOf(accessModes)),
  'disk.flushes': rarely('disk.flushes', fc.constant('ignored')),
  'fault.powerLoss': oneOf(powerLosses), // Nor does it keep a log of writes.
  'disk.calls': rarely(
    'disk.calls',
    oneOf([
      ...['unpublish=UNAVAILABLE*3', 'unpublish=never', 'unpublish=NOT_FOUND@machine-gone'],
      ...['publish=late:40s,nodeUnpublish=INTERNAL*2', 'unstage=never', 'stage=ABORTED*2'],
    ]),
  ),
  'disk.keepWrites': fc.constant(false), // Nor has it a storage network.
  'disk.transport': fc.constant('array'),
  'disk.revocation': fc.constant('cut'),
  'load.rate': oneOf([0, 1, 5]),
  'load.connections': fc.integer({ min: 1, max: 3 }),
  'database.trxCommit': rarely('database.trxCommit', oneOf([0, 2])),
  'database.binlog': rarely('database.binlog', fc.constant('off')),
  'selfFence.kind': rarely('selfFence.kind', oneOf(selfFences)),
  'selfFence.after': seconds(5, 60),
  'kubernetes.version': rarely('kubernetes.version', oneOf(kubernetesMinors)),
  'kubernetes.featureGates': fc.constant({}),
  'kubernetes.admission': fc.constant('open'),
  'timers.grace': seconds(5, 30),
  'timers.toleration': seconds(0, 15),
  'timers.forceDetachAfter': seconds(5, 40),
  'watch.warmup': seconds(0, 10),
  'watch.overlap': seconds(0, 20),
  'watch.patience': seconds(0, 40),
  'watch.horizon': seconds(60, 240),
  'watch.converge': seconds(10, 120),
  expected: fc.uniqueArray(oneOf(verdictWords), { minLength: 1 }),
};

/** What contradicts becomes the default, as in a sweep; what may not be written is no scenario. */
export const anyScenario: fc.Arbitrary<Scenario> = fc
  .record(fields)
  .map((drawn) => parseScenario({ ...settle(withValues(plainScenario, Object.entries(drawn))) }));
