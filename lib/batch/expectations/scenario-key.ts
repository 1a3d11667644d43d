/** Which scenarios are the same: runs of one key answer one question, and are counted together. */
import { situationOf } from '../../judge/index.ts';
import { shortenedTimers, type Scenario } from '../../scenario/index.ts';

/** They say how long a run waits and what it keeps, not what is done to whom. */
export const timing: readonly string[] = [
  ...['graceMs', 'tolerationMs', 'forceDetachAfterMs', 'remedyAt', 'keepWrites'],
  ...['overlapMs', 'horizonMs', 'convergeMs'],
];

/** How the clients were run: no race is another one for it, and a finding counts stock ones only. */
export const clientTiming: readonly string[] = ['warmupMs', 'patienceMs'];

/** Names, what a run is held against, and whose disk it plays: no part of what is done. */
export const indifferentNames: readonly string[] = [
  ...['name', 'question', 'expected', 'expectedServing', 'counted', 'diskFrom'],
];

/** What does not decide an outcome or decides it coarsely. */
const indifferent = new Set<string>([
  ...timing,
  ...clientTiming,
  ...indifferentNames,
  ...['kubernetes', 'rebootAt', 'workload', 'alsoAt', 'alsoForMs'],
]);

/** How fast clients write decides which symptom a race has; otherwise whether they write at all does. */
const load = new Set<string>(['rate', 'connections']);

/** Names a cell of the table: any rate but none is as good as another. */
export function cellKey(scenario: Scenario): string {
  const decisive = entriesOf(scenario).filter(([field]) => !load.has(field));
  return JSON.stringify([decisive, scenario.rate === 0 ? 'idle' : 'busy', kindsOf(scenario)]);
}

/** Names a race: the load counts, and so does whether timers were shortened. */
export function raceKey(scenario: Scenario): string {
  const timers = shortenedTimers(scenario).length > 0 ? 'shortened' : 'stock';
  return JSON.stringify([entriesOf(scenario), timers, kindsOf(scenario)]);
}

const entriesOf = (scenario: Scenario): [string, unknown][] =>
  Object.entries(scenario)
    .filter(([field]) => !indifferent.has(field))
    .toSorted(([a], [b]) => (a < b ? -1 : 1));

const kindsOf = (scenario: Scenario): readonly string[] => [
  // OrderedReady or Parallel, Recreate or RollingUpdate: they differ in rollouts only.
  scenario.workload.startsWith('deployment') ? 'Deployment' : 'StatefulSet',
  rebootOf(scenario),
  // Such a watch sees other outcomes.
  ...(situationOf(scenario).watchEnds === 'perhaps before it' ? ['short watch'] : []),
];

/** Back before the node is missed, at the forced detach, or later. */
function rebootOf({ fault, rebootAt, graceMs }: Scenario): string {
  if (fault !== 'node-reboot') return 'none';
  if (rebootAt === 'force-detach') return 'at the forced detach';
  return rebootAt < graceMs ? 'within' : 'after';
}
