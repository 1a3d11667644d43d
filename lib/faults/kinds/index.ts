/** The faults by name, from what each says of itself, and what the rest must know of each to judge a run. */
import { apiOutage } from './api-outage.ts';
import { apiPartition } from './api-partition.ts';
import { attacherDown } from './attacher-down.ts';
import { controllerRestart } from './controller-restart.ts';
import { cpuStarvation } from './cpu-starvation.ts';
import { flappingPartition } from './flapping-partition.ts';
import { freeze } from './freeze.ts';
import { kubeletRestart } from './kubelet-restart.ts';
import { kubeletStall } from './kubelet-stall.ts';
import { leaseWrite } from './lease-write.ts';
import { networkPartition } from './network-partition.ts';
import { nodeCrash } from './node-crash.ts';
import { nodeReboot } from './node-reboot.ts';
import { none } from './none.ts';
import { runtimeStall } from './runtime-stall.ts';
import type { FaultTraits } from './kind.ts';
import { fieldsOfKinds } from '../../fields/of-kinds.ts';

/** A seed of the sweep draws by this order: a new one goes last. */
export const faultDeclarations = [
  ...[none, nodeCrash, nodeReboot, networkPartition, apiPartition, freeze, kubeletStall],
  ...[runtimeStall, kubeletRestart, cpuStarvation, flappingPartition],
  ...[controllerRestart, apiOutage, attacherDown, leaseWrite],
] as const;

type Declaration = (typeof faultDeclarations)[number];
type NamesOf<Trait> = Extract<Declaration, Trait>['name'];

export type FaultKind = Declaration['name'];
export type FaultNamed<Name> = Extract<Declaration, { readonly name: Name }>;
export const faultKinds: readonly FaultKind[] = faultDeclarations.map(({ name }) => name);

/** What an experiment asks that has this fault, and no question of its own. */
export const questionOf = (fault: FaultKind): string =>
  faultDeclarations.find(({ name }) => name === fault)?.question ?? fault;

type Trait = keyof FaultTraits;
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
export const cutsClientsOff = isOne(namesWith('cutsClientsOff'));
export const isOverAtOnce = isOne(namesWith('isOverAtOnce'));
export const sharesEvents = isOne(namesWith('sharesEvents'));
export const delaysNotReady = isOne(namesWith('delaysNotReady'));
export const unsettlesAttachments = isOne(namesWith('unsettlesAttachments'));

export const fieldsOfFaults = fieldsOfKinds(faultDeclarations);
