/** The faults by name, which of them have which trait, and the fields of a scenario that say what is broken. */
import { z } from 'zod';
import { alsoEvents, faultEvents } from '../../core/index.ts';
import { apiOutage } from './api-outage.ts';
import { apiPartition } from './api-partition.ts';
import { attacherDown } from './attacher-down.ts';
import { clockStep } from './clock-step.ts';
import { controlPlaneFreeze } from './control-plane-freeze.ts';
import { containerdStall } from './containerd-stall.ts';
import { controllerFailover } from './controller-failover.ts';
import { controllerFreeze } from './controller-freeze.ts';
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
import { nodeShutdown } from './node-shutdown.ts';
import { none } from './none.ts';
import { runtimeStall } from './runtime-stall.ts';
import { shutdownHang } from './shutdown-hang.ts';
import { lastingProbes, type DeclaredFault, type FaultTraits } from './kind.ts';
import { powerLosses } from '../disk-kinds.ts';
import { choice, eventOr, field, moment, oneOf, secondsWithin, time, whole } from '../field.ts';
import { fieldsOfKinds, finderIn } from '../kinds.ts';

/** A seed of the sweep draws by this order: a new one goes last. */
export const faultDeclarations = [
  ...[none, nodeCrash, nodeReboot, networkPartition, apiPartition, freeze, kubeletStall],
  ...[runtimeStall, kubeletRestart, cpuStarvation, flappingPartition],
  ...[controllerRestart, apiOutage, attacherDown, leaseWrite],
  ...[
    nodeShutdown,
    shutdownHang,
    controllerFreeze,
    controllerFailover,
    controlPlaneFreeze,
    clockStep,
  ],
  containerdStall,
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
/** They may come to a second node. */
export const nodeFaults = namesWith('strikesSecond');
export const secondFaults = [...controlPlaneFaults, ...nodeFaults];
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
export const endsMachine = isOne(namesWith('endsMachine'));
/** Its heal, or its own moment, starts the victim's machine. */
export const bootsAtHeal = (fault: FaultKind): boolean =>
  ['boot', 'power cycle'].includes(faultNamed(fault).mends);
export const cutsClientsOff = isOne(namesWith('cutsClientsOff'));
export const isOverAtOnce = isOne(namesWith('isOverAtOnce'));
export const silencesApi = isOne(namesWith('silencesApi'));
export const stopsControlPlane = isOne(namesWith('stopsControlPlane'));
export const sharesEvents = isOne(namesWith('sharesEvents'));
export const delaysNotReady = isOne(namesWith('delaysNotReady'));
export const unsettlesAttachments = isOne(namesWith('unsettlesAttachments'));

/** Those of the control plane come beside one of these. */
const victimFaults = faultKinds.filter((fault) => fault !== 'none' && !sparesVictim(fault));

const { recreations, link, ...fieldsOfVictims } = fieldsOfKinds(faultDeclarations);

export const faultFields = {
  kind: field(z.enum(faultKinds), {
    about: 'what breaks',
    swept: { isAsked: true, draw: oneOf(victimFaults) },
    choices: faultKinds,
  }),
  ...fieldsOfVictims,
  serverKills: whole([0, 5], 0, {
    about:
      'kill the database so many times just before the fault (0, or 2 to 5), which then hits during the restart back-off',
    of: silencingFaults,
    needs: 'server-kill',
    swept: { share: 0.25, asksNoRow: true, draw: (dice) => dice.int(2, 5) },
  }),
  recreations,
  link,
  powerLoss: choice(powerLosses, 'keeps', {
    about: 'what a crash does to writes that the disk acknowledged but did not flush',
    swept: { isAsked: true },
    of: powerFaults,
  }),
};

export const alsoTargets = ['successor', 'neighbour', 'victim'] as const;

interface AlsoFault {
  readonly kind: FaultKind;
  readonly on: (typeof alsoTargets)[number];
}

/** Of what is broken beside it. */
export const alsoFields = {
  kind: choice(['none', ...secondFaults], 'none', {
    about: 'a second fault, of the control plane or of a node',
    swept: { share: 0.25, isAsked: true, draw: oneOf(controlPlaneFaults) },
  }),
  at: moment(alsoEvents, 'half-wait', {
    about:
      'when the second fault begins: terminating, pod-gone, half-wait (half of the wait for a forced detach), force-detach, second-mount, successor-ready, or a time after the fault',
    of: secondFaults,
    swept: { isAsked: true, draw: eventOr(0.6, faultEvents, secondsWithin(0, 420)) },
  }),
  for: time(30_000, {
    about: 'how long the second fault lasts; at most until the first is healed',
    swept: { isAsked: true, draw: secondsWithin(1, 120) },
    of: secondFaults,
    least: 1,
  }),
  on: choice(alsoTargets, 'successor', {
    about:
      'which node the second fault strikes: the successor, the neighbour (a node where the database neither was nor is), or the victim',
    of: nodeFaults,
  }),
};

/** The second fault strikes another node than the first. */
export const strikesOther = ({ also }: { readonly also: AlsoFault }): boolean =>
  strikesNode({ also }) && also.on !== 'victim';

/** The second fault strikes a node; the run is watched until it is over. */
export const strikesNode = ({ also }: { readonly also: Pick<AlsoFault, 'kind'> }): boolean =>
  also.kind !== 'none' && !sparesVictim(also.kind);

/** Name in records: the same kind may come to two nodes. */
export const alsoNameOf = ({ also }: { readonly also: AlsoFault }): string =>
  strikesNode({ also }) ? `${also.kind} of the ${also.on}` : also.kind;
