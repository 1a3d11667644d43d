/** Which trials can have their volumes on one victim, under one fault event. */
import {
  isDirectory,
  fieldNames,
  writtenPathOf,
  type FieldName,
  type Scenario,
  sharesEvents,
  actsOn,
} from '../scenario/index.ts';
import type { BatchTrial } from './batch-plan.ts';

/** What belongs to a volume, its database or its pod, and may differ under one fault. */
const ownGroups: readonly string[] = ['disk', 'volume', 'workload', 'load', 'database'];
const ownTimer: FieldName = 'tolerationMs';
/** A cluster has a provisioner or none; a drain of the node waits for all its preStop hooks. */
const ofNode: readonly FieldName[] = ['provision', 'preStopS', 'moveBack'];

/** What no file sets is how a run is called and what it is held against: its own as well. */
const sharedUnder = (groups: readonly string[], timers: readonly string[]): readonly FieldName[] =>
  fieldNames.filter((name) => {
    const [group = '', key] = writtenPathOf(name);
    const isOwn = key === undefined || groups.includes(group) || timers.includes(name);
    return !isOwn || ofNode.includes(name);
  });
/** What is done to the node is done to all, once a pod is Terminating: all become so together. */
const sharedFields = sharedUnder(ownGroups, []);
const sharedBesideRemedies = sharedUnder([...ownGroups, 'remedy'], [ownTimer]);

/** What an operator does to one pod leaves its neighbours alone; what he does to the node meets all. */
const isOfPod = (remedy: Scenario['remedy']): boolean =>
  ['nothing', 'pod'].includes(actsOn(remedy));
const isOfNode = (remedy: Scenario['remedy']): boolean => actsOn(remedy) === 'node';

/** Trials with the same key fit under one event; undefined where a trial wants its own. */
export function eventKey({ kind, scenario, seed, alone }: BatchTrial): string | undefined {
  const { fault, also, remedy, disk, selfFence, podFinalizer, serverKills } = scenario;
  const fits =
    sharesEvents(fault) &&
    (isOfPod(remedy) || isOfNode(remedy)) &&
    also === 'none' &&
    !isDirectory(disk) &&
    selfFence === 'off' &&
    !podFinalizer &&
    // One kill ends the servers of all runs on the node.
    serverKills === 0;
  if (!fits || alone || kind === 'check') return undefined;
  const shared = isOfPod(remedy) ? sharedBesideRemedies : sharedFields;
  return JSON.stringify([seed, isOfPod(remedy), shared.map((name) => scenario[name])]);
}

/**
 * Whether events of other victims may be on its cluster meanwhile. A node that comes back as another
 * one gets another pod range, which its whole cluster has to be told.
 */
export const sharesCluster = (trial: BatchTrial): boolean =>
  eventKey(trial) !== undefined && trial.scenario.remedy !== 'delete-node';

/** Groups of at most `volumes`, each in the place of its first member. */
export function eventsOf<T>(
  items: readonly T[],
  trialOf: (item: T) => BatchTrial,
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
