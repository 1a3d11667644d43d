/**
 * The factors of a schedule: what each field of a scenario may become in a sweep. Nothing here knows
 * which values do harm.
 */
import { powerLosses, storageLinks } from '../disk-kinds.ts';
import { diskModes } from '../disk-modes/index.ts';
import type { Scenario } from '../experiment/scenario.ts';
import { controlPlaneFaults, faultKinds, sparesVictim } from '../fault-kinds.ts';
import { kubernetesMinors } from '../kubernetes-versions.ts';
import { remedyEvents, remedyKinds } from '../remedy-kinds.ts';
import { accessModes } from '../storage/fields.ts';
import { selfFences, workloads } from '../workload/fields.ts';
import type { Draws } from './draws.ts';

type Factor<Field extends keyof Scenario> = (draws: Draws) => Scenario[Field];
export type Factors = { readonly [Field in keyof Scenario]?: Factor<Field> };

/** The usual value in most schedules, so that few things happen at once. */
const rarely =
  <T>(share: number, usual: T, other: (draws: Draws) => T) =>
  (draws: Draws): T =>
    draws.chance(share) ? other(draws) : usual;

const seconds =
  (from: number, to: number) =>
  (draws: Draws): number =>
    draws.int(from * 10, to * 10) * 100;

const flags =
  (share: number) =>
  (draws: Draws): boolean =>
    draws.chance(share);

/** Those of the control plane come beside one of these. */
const victimFaults = faultKinds.filter((fault) => fault !== 'none' && !sparesVictim(fault));

/** In the order in which they are drawn. */
export const factors = {
  fault: (draws) => draws.pick(victimFaults),
  remedy: (draws) => draws.pick(remedyKinds),
  remedyAt: (draws) =>
    draws.chance(0.5) ? draws.pick(remedyEvents) : seconds(0, draws.pick([60, 420]))(draws),
  disk: rarely<Scenario['disk']>(0.6, 'unfenced', (draws) => draws.pick(diskModes)),
  link: (draws) => draws.pick(storageLinks),
  reboot: (draws) => !draws.chance(0.2),
  rebootAt: (draws) => (draws.chance(0.3) ? 'force-detach' : seconds(1, 400)(draws)),
  cpuShare: (draws) => draws.pick([0.001, 0.005, 0.02, 0.1]),
  flapDownMs: seconds(5, 400),
  flapUpMs: seconds(1, 120),
  also: rarely<Scenario['also']>(0.25, 'none', (draws) => draws.pick(controlPlaneFaults)),
  alsoAt: (draws) =>
    draws.chance(0.6)
      ? draws.pick(['terminating', 'pod-gone', 'half-wait', 'force-detach'] as const)
      : seconds(0, 420)(draws),
  alsoForMs: seconds(1, 120),
  untaintAt: (draws) =>
    draws.chance(0.5) ? draws.pick(['end', 'heal', 'kept'] as const) : seconds(0, 60)(draws),
  terminationGraceS: rarely(0.2, 30, (draws) => draws.pick([0, 0, 1, 5, 120])),
  podFinalizer: flags(0.1),
  forceDetach: rarely<Scenario['forceDetach']>(0.1, 'on', () => 'off'),
  moveBack: flags(0.15),
  preStopS: rarely(0.05, 0, (draws) => draws.int(1, 25)),
  workload: (draws) => draws.pick(workloads),
  cutAfterMs: (draws) => draws.pick([0, 100, 1000, 10_000, 60_000]),
  watcherCheck: (draws) => draws.pick(['works', 'missing'] as const),
  attachWhileBusy: (draws) => draws.pick(['refused', 'granted'] as const),
  fileLocks: (draws) => draws.pick(['shared', 'local'] as const),
  filesystem: rarely<Scenario['filesystem']>(0.1, 'ext4', () => 'ext4-mmp'),
  accessMode: rarely<Scenario['accessMode']>(0.2, 'ReadWriteOnce', (draws) =>
    draws.pick(accessModes),
  ),
  flushes: rarely<Scenario['flushes']>(0.05, 'honest', () => 'ignored'),
  powerLoss: (draws) => draws.pick(powerLosses),
  rate: (draws) => draws.pick([0, 2, 25, 25, 25, 1000, 'max'] as const),
  trxCommit: rarely<Scenario['trxCommit']>(0.15, 1, (draws) => draws.pick([0, 2] as const)),
  selfFence: rarely<Scenario['selfFence']>(0.2, 'off', (draws) => draws.pick(selfFences)),
  selfFenceAfterMs: seconds(20, 60),
  kubernetes: (draws) => draws.pick(kubernetesMinors),
  graceMs: rarely(0.15, 50_000, seconds(5, 60)),
  tolerationMs: rarely(0.15, 300_000, seconds(0, 300)),
  forceDetachAfterMs: rarely(0.15, 360_000, seconds(5, 360)),
  warmupMs: seconds(0, 30),
  overlapMs: seconds(1, 40),
  // Where nobody takes over, the fault lasts so long.
  horizonMs: rarely(0.4, 900_000, seconds(20, 900)),
  serverKills: rarely(0.25, 0, (draws) => draws.int(2, 5)),
} as const satisfies Factors;
