/** What records and files of earlier versions call the fields of a scenario: flat, with their units. */
import { combined, settingsFrom, type SettableName } from './fields.ts';

/** By the name that it had. */
export const earlierNames: Readonly<Record<string, SettableName>> = {
  fault: 'fault.kind',
  reboot: 'fault.reboot',
  rebootAt: 'fault.rebootAt',
  cpuShare: 'fault.cpuShare',
  flapDownMs: 'fault.down',
  flapUpMs: 'fault.up',
  serverKills: 'fault.serverKills',
  recreations: 'fault.recreations',
  link: 'fault.link',
  powerLoss: 'fault.powerLoss',
  also: 'also.kind',
  alsoAt: 'also.at',
  alsoForMs: 'also.for',
  remedy: 'remedy.kind',
  remedyAt: 'remedy.at',
  untaintAt: 'remedy.untaintAt',
  moveBack: 'remedy.moveBack',
  workload: 'workload.kind',
  terminationGraceS: 'workload.terminationGrace',
  podFinalizer: 'workload.finalizer',
  preStopS: 'workload.preStop',
  forceDetach: 'timers.forceDetach',
  graceMs: 'timers.grace',
  tolerationMs: 'timers.toleration',
  forceDetachAfterMs: 'timers.forceDetachAfter',
  provision: 'volume.provision',
  filesystem: 'volume.filesystem',
  accessMode: 'volume.accessMode',
  disk: 'disk.mode',
  cutAfterMs: 'disk.cutAfter',
  watcherCheck: 'disk.watcherCheck',
  attachWhileBusy: 'disk.attachWhileBusy',
  fileLocks: 'disk.fileLocks',
  flushes: 'disk.flushes',
  keepWrites: 'disk.keepWrites',
  rate: 'load.rate',
  connections: 'load.connections',
  trxCommit: 'database.trxCommit',
  binlog: 'database.binlog',
  database: 'database.kind',
  consistency: 'database.consistency',
  majorityTimeoutS: 'database.majorityTimeout',
  exitAction: 'database.exitAction',
  autorejoinTries: 'database.autorejoinTries',
  expelTimeoutS: 'database.expelTimeout',
  selfFence: 'selfFence.kind',
  selfFenceAfterMs: 'selfFence.after',
  kubernetes: 'kubernetes.version',
  featureGates: 'kubernetes.featureGates',
  warmupMs: 'watch.warmup',
  overlapMs: 'watch.overlap',
  patienceMs: 'watch.patience',
  horizonMs: 'watch.horizon',
  convergeMs: 'watch.converge',
};

/** Its path and value today: seconds are milliseconds. Undefined of what is written as today, or is no field. */
export function earlierField(
  name: string,
  value: unknown,
): readonly [SettableName, unknown] | undefined {
  const path = Object.hasOwn(earlierNames, name) ? earlierNames[name] : undefined;
  const isGroup = typeof value === 'object' && name !== 'featureGates';
  if (path === undefined || isGroup) return undefined;
  return [path, name.endsWith('S') && typeof value === 'number' ? value * 1000 : value];
}

/** A record's scenario, whichever version wrote it, in today's form. */
export function scenarioToday(
  recorded: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const entries = Object.entries(recorded);
  const earlier = entries
    .map(([name, value]) => earlierField(name, value))
    .filter((found) => found !== undefined);
  if (earlier.length === 0) return recorded;
  const rest = entries.filter(([name, value]) => earlierField(name, value) === undefined);
  return combined(Object.fromEntries(rest), settingsFrom(earlier));
}
