/** Which trials can have their volumes on one victim, under one fault event. */
import { databaseFieldNames } from '../database/fields.ts';
import type { Scenario } from '../experiment/scenario.ts';
import type { Trial } from './plan.ts';

/** What belongs to a volume, its database or its pod, and may differ under one fault. */
const ownFields: readonly (keyof Scenario)[] = [
  'name',
  'question',
  'expected',
  'counted',
  'disk',
  'diskFrom',
  'cutAfterMs',
  'watcherCheck',
  'attachWhileBusy',
  'filesystem',
  'accessMode',
  'flushes',
  'keepWrites',
  'rate',
  'connections',
  ...databaseFieldNames,
  'workload',
  'terminationGraceS',
  'tolerationMs',
];

/** What an operator does to one pod leaves its neighbours alone; the others do it to the node. */
const remediesOfPod: readonly Scenario['remedy'][] = ['none', 'force-delete', 'delete'];
const remediesOfNode: readonly Scenario['remedy'][] = ['out-of-service', 'delete-node', 'drain'];

/** Faults that are broken once and mended once. */
const simpleFaults: readonly Scenario['fault'][] = [
  'none',
  'node-crash',
  'network-partition',
  'api-partition',
  'freeze',
  'kubelet-stall',
  'runtime-stall',
];

/** Trials with the same key fit under one event; undefined where a trial wants its own. */
export function eventKey({ kind, scenario, seed, alone }: Trial): string | undefined {
  const { fault, also, remedy, disk, selfFence, podFinalizer, serverKills } = scenario;
  const fits =
    simpleFaults.includes(fault) &&
    (remediesOfPod.includes(remedy) || remediesOfNode.includes(remedy)) &&
    also === 'none' &&
    disk !== 'shared-file' &&
    selfFence === 'off' &&
    !podFinalizer &&
    // One kill ends the servers of all runs on the node.
    serverKills === 0;
  if (!fits || alone || kind === 'check') return undefined;
  const own = remediesOfPod.includes(remedy)
    ? [...ownFields, 'remedy', 'remedyAt', 'untaintAt']
    : ownFields;
  const shared = Object.entries(scenario).filter(
    ([field]) => !(own as readonly string[]).includes(field),
  );
  return JSON.stringify([seed, remediesOfPod.includes(remedy), shared]);
}

/**
 * Whether events of other victims may be on its cluster meanwhile. A node that comes back as another
 * one gets another pod range, which its whole cluster has to be told.
 */
export const sharesCluster = (trial: Trial): boolean =>
  eventKey(trial) !== undefined && trial.scenario.remedy !== 'delete-node';

/** Groups of at most `volumes`, each in the place of its first member. */
export function eventsOf<T>(
  items: readonly T[],
  trialOf: (item: T) => Trial,
  volumes: number,
): T[][] {
  const events: T[][] = [];
  const open = new Map<string, T[]>();
  for (const item of items) {
    const key = eventKey(trialOf(item));
    const group = key === undefined ? undefined : open.get(key);
    if (group !== undefined && group.length < volumes) {
      group.push(item);
      continue;
    }
    const event = [item];
    events.push(event);
    if (key !== undefined) open.set(key, event);
  }
  return events;
}
