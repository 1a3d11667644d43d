/**
 * The rows of the outcome matrix that a sweep must find or must not refute: does another node mount
 * the volume while the first writer lives? A row is asked of schedules in which nothing else happens.
 */
import { losesPower, type FaultKind } from '../fault-kinds.ts';
import type { RemedyKind } from '../remedy-kinds.ts';
import type { Scenario } from '../experiment/scenario.ts';
import { factors } from './generate.ts';
import type { Outcome } from './play.ts';
import { hasDefault } from './settle.ts';

export interface Row {
  readonly name: string;
  readonly expect: 'yes' | 'no';
}

const decisive = factors.filter(({ asksNoRow }) => asksNoRow).map(({ field }) => field);

/** One fault, one remedy, an attachable volume for one node, a pod with a grace period. */
const isPlain = (scenario: Scenario): boolean =>
  scenario.disk !== 'shared-file' && decisive.every((field) => hasDefault(scenario, field));

const liveFaults: readonly FaultKind[] = [
  'network-partition',
  'api-partition',
  'freeze',
  'kubelet-stall',
  'runtime-stall',
];
const removing: readonly RemedyKind[] = ['force-delete', 'out-of-service', 'delete-node'];
const leaving: readonly RemedyKind[] = ['none', 'drain', 'delete'];
const deadFaults: readonly FaultKind[] = ['node-crash', 'node-reboot'];
const shaky: readonly FaultKind[] = ['cpu-starvation', 'flapping-partition', 'kubelet-restart'];

const nameOf = (fault: FaultKind, also: Scenario['also'], remedy: RemedyKind): string =>
  `${fault}${also === 'none' ? '' : ` and ${also}`}, ${remedy}`;

const rowsOf = (
  faults: readonly FaultKind[],
  remedies: readonly RemedyKind[],
  expect: Row['expect'],
  alsos: readonly Scenario['also'][] = ['none'],
): Row[] =>
  faults.flatMap((fault) =>
    alsos.flatMap((also) =>
      remedies.map((remedy) => ({ name: nameOf(fault, also, remedy), expect })),
    ),
  );

export const rows: readonly Row[] = [
  ...rowsOf(liveFaults, removing, 'yes'),
  ...rowsOf(liveFaults, leaving, 'no'),
  ...rowsOf(deadFaults, [...removing, ...leaving], 'no'),
  ...rowsOf(shaky, leaving, 'no'),
  ...rowsOf(['network-partition'], removing, 'yes', ['controller-restart', 'api-outage']),
  ...rowsOf(['network-partition'], leaving, 'no', ['controller-restart', 'api-outage']),
];

const known = new Set(rows.map(({ name }) => name));

/** The row that a scenario asks; undefined where it asks none. */
export function rowOf(scenario: Scenario): string | undefined {
  const name = nameOf(scenario.fault, scenario.also, scenario.remedy);
  return known.has(name) && isPlain(scenario) ? name : undefined;
}

/** Whether the first writer lived when the second came. */
export const answersYes = ({ dualMount, scenario }: Outcome): boolean =>
  dualMount && !losesPower(scenario.fault);
