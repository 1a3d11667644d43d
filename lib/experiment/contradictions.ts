/** Fields of a scenario that don't fit together: a run of such a one would answer another question. */
import { diskModeDeclarations, diskModeOf, type DiskMode } from '../disk-modes/index.ts';
import { faultDeclarations, losesPower, sparesVictim } from '../faults/kinds/index.ts';
import { actsOn, remedyDeclarations, removesPod } from '../remedies/kinds/index.ts';
import type { Field } from '../fields/field.ts';
import type { KindDeclaration } from '../fields/of-kinds.ts';
import { fields } from './fields.ts';
import { fieldNames, groupOf, kindsInWords, type FieldName } from './written-paths.ts';
import type { Scenario } from './scenario.ts';

export interface Contradiction {
  readonly field: FieldName;
  /** What is wrong and what would be right. */
  readonly message: string;
}

interface ContradictionRule extends Contradiction {
  readonly broken: (scenario: Scenario) => boolean;
}

/** Refuses a field that does something with some kinds only: with another one a changed value is a wish. */
const kindRules: readonly ContradictionRule[] = fieldNames.flatMap((field) => {
  const { of, isHarmless, stock }: Field = fields[field];
  const head = groupOf(field)?.head;
  if (of === undefined || isHarmless === true || head === undefined) return [];
  const kinds = new Set<unknown>(of);
  return {
    field,
    message: kindsInWords(field) ?? '',
    broken: (scenario) => scenario[field] !== stock && !kinds.has(scenario[head]),
  };
});

/** Rules that a kind says itself: fields that it leaves no choice. */
const ownRules = (
  head: FieldName,
  kinds: readonly KindDeclaration[],
): readonly ContradictionRule[] =>
  kinds.flatMap(({ name, keeps = {}, needs = {} }) => {
    const hasStock = (scenario: Scenario, field: string): boolean =>
      scenario[field as FieldName] === fields[field as FieldName].stock;
    const kept = Object.entries(keeps).map(
      ([field, why]): ContradictionRule => ({
        field: field as FieldName,
        message: `not with ${head} ${name}: ${why}`,
        broken: (scenario) => scenario[head] === name && !hasStock(scenario, field),
      }),
    );
    const needed = Object.entries(needs).map(
      ([field, message]): ContradictionRule => ({
        field: head,
        message,
        broken: (scenario) => scenario[head] === name && hasStock(scenario, field),
      }),
    );
    return [...kept, ...needed];
  });

const isDirectory = (disk: DiskMode): boolean => diskModeOf[disk].isDirectory === true;

const rules: readonly ContradictionRule[] = [
  ...kindRules,
  {
    field: 'diskFrom',
    message: 'its certificate shows another disk than `disk`',
    broken: ({ disk, diskFrom }) => diskFrom !== undefined && !diskFrom.modes.includes(disk),
  },
  {
    field: 'serverKills',
    message: 'the first restart comes at once: only from the second on does a kubelet wait',
    broken: ({ serverKills }) => serverKills === 1,
  },
  {
    field: 'serverKills',
    message: 'with trxCommit 0 each kill takes acknowledged commits, before anything else does',
    broken: ({ serverKills, trxCommit }) => serverKills > 0 && trxCommit === 0,
  },
  {
    field: 'serverKills',
    message: 'a self-fence starts and ends the database as well',
    broken: ({ serverKills, selfFence }) => serverKills > 0 && selfFence !== 'off',
  },
  {
    field: 'also',
    message:
      'a fault of the control plane is the only one of its run, or comes beside another kind',
    broken: ({ fault, also }) => also !== 'none' && sparesVictim(fault),
  },
  {
    field: 'disk',
    message:
      'a crash takes nothing from disk shared-file: its directory lies in the page cache ' +
      'of this machine, which outlives a node',
    broken: ({ fault, disk }) => losesPower(fault) && isDirectory(disk),
  },
  {
    field: 'remedyAt',
    message: 'without a fault none of these events comes; give a time after it, such as 0',
    broken: ({ fault, remedy, remedyAt }) =>
      fault === 'none' && remedy !== 'none' && typeof remedyAt !== 'number',
  },
  {
    field: 'remedyAt',
    message: 'what the remedy removes is the pod, and that is gone by then',
    broken: ({ remedy, remedyAt }) => removesPod(remedy) && remedyAt === 'pod-gone',
  },
  {
    field: 'remedy',
    message: 'not with disk shared-file: it has no VolumeAttachment and no path that could be cut',
    broken: ({ remedy, disk }) =>
      isDirectory(disk) && ['attachment', 'path'].includes(actsOn(remedy)),
  },
  {
    field: 'selfFenceAfterMs',
    message:
      'shorter than two renewals of the Lease, each a fifth of graceMs: a healthy node would be fenced',
    broken: ({ selfFence, selfFenceAfterMs, graceMs }) =>
      selfFence !== 'off' && selfFenceAfterMs < (2 * graceMs) / 5,
  },
  {
    field: 'forceDetach',
    message: 'the controller manager can be told to leave it since Kubernetes 1.30 (#120344)',
    broken: ({ forceDetach, kubernetes }) =>
      forceDetach === 'off' && (kubernetes === '1.28' || kubernetes === '1.29'),
  },
  {
    field: 'recreations',
    message: 'pods are deleted one by one, and nobody does anything else: remedy none',
    broken: ({ recreations, remedy }) => recreations > 0 && remedy !== 'none',
  },
  {
    field: 'preStopS',
    message: 'the database would be killed before it is told to stop: less than terminationGraceS',
    broken: ({ preStopS, terminationGraceS }) => preStopS > 0 && preStopS >= terminationGraceS,
  },
  ...ownRules('fault', faultDeclarations),
  ...ownRules('remedy', remedyDeclarations),
  ...ownRules('disk', diskModeDeclarations),
];

/** Empty where all fits. */
export const contradictions = (scenario: Scenario): Contradiction[] =>
  rules.filter(({ broken }) => broken(scenario)).map(({ field, message }) => ({ field, message }));
