/** Any scenario that may be written, with times so short that hundreds of them can be run. */
import fc from 'fast-check';
import { filesystems, powerLosses, storageLinks } from '../../lib/scenario/disk-kinds.ts';
import { diskModes } from '../../lib/scenario/disks/index.ts';
import { parseScenario, verdictWords, type Scenario } from '../../lib/scenario/scenario.ts';
import { controlPlaneFaults, faultKinds } from '../../lib/scenario/faults/index.ts';
import { kubernetesMinors } from '../../lib/core/kubernetes.ts';
import { remedyKinds } from '../../lib/scenario/remedies/index.ts';
import { accessModes } from '../../lib/scenario/fields/storage.ts';
import { selfFences, workloads } from '../../lib/scenario/fields/workload.ts';
import { plainScenario, settle } from '../../lib/sweep/schedule.ts';
import { faultEvents, remedyEvents, undoEvents } from '../../lib/core/time.ts';

const oneOf = <T>(values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values);
const seconds = (from: number, to: number): fc.Arbitrary<number> =>
  fc.integer({ min: from * 10, max: to * 10 }).map((tenths) => tenths * 100);
const moment = oneOf(faultEvents);
/** The usual value in most of them: where all is unusual at once, little happens. */
const rarely = <T>(field: keyof Scenario, other: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant(plainScenario[field]) },
    { weight: 1, arbitrary: other },
  );

type Fields = {
  readonly [Field in keyof Omit<Scenario, 'name' | 'question'>]: fc.Arbitrary<unknown>;
};

/** A field that a scenario gets one day has to be here as well. */
const fields: Fields = {
  fault: oneOf(faultKinds),
  reboot: fc.boolean(),
  rebootAt: fc.oneof(fc.constant('force-detach'), seconds(0, 90)),
  cpuShare: oneOf([0.001, 0.005, 0.02, 0.1]),
  flapDownMs: seconds(1, 60),
  flapUpMs: seconds(1, 30),
  serverKills: rarely('serverKills', fc.integer({ min: 2, max: 5 })),
  also: fc.oneof(fc.constant('none'), oneOf(controlPlaneFaults)),
  alsoAt: fc.oneof(moment, seconds(0, 60)),
  alsoForMs: fc.oneof(seconds(1, 60), fc.constant(9_000_000)),
  remedy: oneOf(remedyKinds),
  remedyAt: fc.oneof(oneOf(remedyEvents), seconds(0, 60)),
  untaintAt: fc.oneof(oneOf(undoEvents), seconds(0, 60)),
  terminationGraceS: rarely('terminationGraceS', oneOf([0, 1, 5, 120])),
  podFinalizer: rarely('podFinalizer', fc.constant(true)),
  forceDetach: rarely('forceDetach', fc.constant('off')),
  moveBack: fc.boolean(),
  recreations: rarely('recreations', fc.integer({ min: 1, max: 4 })),
  preStopS: rarely('preStopS', fc.integer({ min: 1, max: 20 })),
  workload: oneOf(workloads),
  // The model has no provisioner, and refuses what would need one.
  provision: fc.constant('static'),
  disk: fc.oneof(fc.constant('unfenced'), oneOf(diskModes)),
  cutAfterMs: seconds(0, 30),
  watcherCheck: oneOf(['works', 'missing'] as const),
  attachWhileBusy: oneOf(['refused', 'granted'] as const),
  fileLocks: oneOf(['shared', 'local'] as const),
  link: oneOf(storageLinks),
  filesystem: rarely('filesystem', oneOf(filesystems)),
  accessMode: rarely('accessMode', oneOf(accessModes)),
  flushes: rarely('flushes', fc.constant('ignored')),
  powerLoss: oneOf(powerLosses),
  // Nor does it keep a log of writes.
  keepWrites: fc.constant(false),
  rate: oneOf([0, 1, 5]),
  connections: fc.integer({ min: 1, max: 3 }),
  trxCommit: rarely('trxCommit', oneOf([0, 2])),
  binlog: rarely('binlog', fc.constant('off')),
  selfFence: rarely('selfFence', oneOf(selfFences)),
  selfFenceAfterMs: seconds(5, 60),
  kubernetes: rarely('kubernetes', oneOf(kubernetesMinors)),
  featureGates: fc.constant({}),
  graceMs: seconds(5, 30),
  tolerationMs: seconds(0, 15),
  forceDetachAfterMs: seconds(5, 40),
  warmupMs: seconds(0, 10),
  overlapMs: seconds(0, 20),
  patienceMs: seconds(0, 40),
  horizonMs: seconds(60, 240),
  convergeMs: seconds(10, 120),
  expected: fc.uniqueArray(oneOf(verdictWords), { minLength: 1 }),
};

/** What contradicts becomes the default, as in a sweep; what may not be written is no scenario. */
export const anyScenario: fc.Arbitrary<Scenario> = fc
  .record(fields)
  .map((drawn) => parseScenario({ ...settle({ ...plainScenario, ...drawn } as Scenario) }));
