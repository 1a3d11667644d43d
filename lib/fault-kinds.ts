/** The faults by name, from what each says of itself, and what the rest must know of each to judge a run. */
import { apiOutage } from './faults/kinds/api-outage.ts';
import { apiPartition } from './faults/kinds/api-partition.ts';
import { attacherDown } from './faults/kinds/attacher-down.ts';
import { controllerRestart } from './faults/kinds/controller-restart.ts';
import { cpuStarvation } from './faults/kinds/cpu-starvation.ts';
import { flappingPartition } from './faults/kinds/flapping-partition.ts';
import { freeze } from './faults/kinds/freeze.ts';
import { kubeletRestart } from './faults/kinds/kubelet-restart.ts';
import { kubeletStall } from './faults/kinds/kubelet-stall.ts';
import { leaseWrite } from './faults/kinds/lease-write.ts';
import { networkPartition } from './faults/kinds/network-partition.ts';
import { nodeCrash } from './faults/kinds/node-crash.ts';
import { nodeReboot } from './faults/kinds/node-reboot.ts';
import { none } from './faults/kinds/none.ts';
import { runtimeStall } from './faults/kinds/runtime-stall.ts';
import { fieldsOfKinds } from './fields/of-kinds.ts';

/** A seed of the sweep draws by this order: a new one goes last. */
export const faultDeclarations = [
  ...[none, nodeCrash, nodeReboot, networkPartition, apiPartition, freeze, kubeletStall],
  ...[runtimeStall, kubeletRestart, cpuStarvation, flappingPartition],
  ...[controllerRestart, apiOutage, attacherDown, leaseWrite],
] as const;

type Declaration = (typeof faultDeclarations)[number];
type NamesOf<Trait> = Extract<Declaration, Trait>['name'];

export type FaultKind = Declaration['name'];
export const faultKinds: readonly FaultKind[] = faultDeclarations.map(({ name }) => name);

/** What an experiment asks that has this fault, and no question of its own. */
export const questionOf = (fault: FaultKind): string =>
  faultDeclarations.find(({ name }) => name === fault)?.question ?? fault;

type Trait = 'isOfControlPlane' | 'silencesKubelet' | 'losesPower';
const namesWith = <T extends Trait>(trait: T): readonly NamesOf<Readonly<Record<T, true>>>[] =>
  faultDeclarations
    .filter((each) => trait in each)
    .map(({ name }) => name as NamesOf<Readonly<Record<T, true>>>);

/** Faults of the control plane: they need no victim, and so may come beside another. */
export const controlPlaneFaults = namesWith('isOfControlPlane');
export const silencingFaults = namesWith('silencesKubelet');
export const powerFaults = namesWith('losesPower');

const isOne =
  (names: readonly FaultKind[]) =>
  (fault: FaultKind): boolean =>
    names.includes(fault);

export const sparesVictim = isOne(controlPlaneFaults);
export const silencesKubelet = isOne(silencingFaults);
export const losesPower = isOne(powerFaults);

export const fieldsOfFaults = fieldsOfKinds(faultDeclarations);
