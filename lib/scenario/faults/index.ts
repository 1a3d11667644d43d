/** The faults by name, and which of them have which trait. */
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
import { lastingProbes, type DeclaredFault, type FaultTraits } from './kind.ts';
import { fieldsOfKinds, finderIn } from '../fields/of-kinds.ts';

/** A seed of the sweep draws by this order: a new one goes last. */
export const faultDeclarations = [
  ...[none, nodeCrash, nodeReboot, networkPartition, apiPartition, freeze, kubeletStall],
  ...[runtimeStall, kubeletRestart, cpuStarvation, flappingPartition],
  ...[controllerRestart, apiOutage, attacherDown, leaseWrite],
] as const;

type Declaration = (typeof faultDeclarations)[number];
export type FaultKind = Declaration['name'];
export const faultKinds: readonly FaultKind[] = faultDeclarations.map(({ name }) => name);

export const faultNamed: (fault: FaultKind) => DeclaredFault = finderIn<DeclaredFault>(
  'fault',
  faultDeclarations,
);

type Trait = keyof FaultTraits;
type NamesWith<T extends Trait> = Extract<Declaration, Readonly<Record<T, true>>>['name'];
const namesWith = <T extends Trait>(trait: T): readonly NamesWith<T>[] =>
  faultDeclarations.filter((each) => trait in each).map(({ name }) => name as NamesWith<T>);

/** Faults of the control plane: they need no victim, and so may come beside another. */
export const controlPlaneFaults = namesWith('isOfControlPlane');
export const silencingFaults = namesWith('silencesKubelet');
export const powerFaults = namesWith('losesPower');

/** What an experiment answers that has this fault, and no question of its own. */
export const questionOf = (fault: FaultKind): string => faultNamed(fault).question;

/** Whether it is certified again and again, until its heal. */
export const isAskedAgain = (fault: FaultKind): boolean =>
  lastingProbes(faultNamed(fault)).length > 0;

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
