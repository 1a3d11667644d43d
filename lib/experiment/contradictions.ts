/** Fields of a scenario that don't fit together: a run of such a one would answer another question. */
import { databaseDeclarations } from '../database/kinds/index.ts';
import { diskModeDeclarations, diskModeOf, type DiskMode } from '../disk-modes/index.ts';
import { faultDeclarations, losesPower, sparesVictim } from '../faults/kinds/index.ts';
import { actsOn, remedyDeclarations, removesPod } from '../remedies/kinds/index.ts';
import type { Field } from '../fields/field.ts';
import type { KindDeclaration } from '../fields/of-kinds.ts';
import { fields } from './fields.ts';
import {
  fieldNames,
  groupOf,
  kindsInWords,
  settableNames,
  type FieldName,
} from './written-paths.ts';
import type { Scenario } from './scenario.ts';

export interface Contradiction {
  readonly field: FieldName;
  /** What is wrong and what would be right. */
  readonly message: string;
}

interface ContradictionRule extends Contradiction {
  readonly broken: (scenario: Scenario) => boolean;
}

/** What a field says, also where the record leaves it out. */
const valueOf = (scenario: Scenario, field: FieldName): unknown => {
  const said: unknown = scenario[field];
  const { stock, isSparse }: Field = fields[field];
  return said === undefined && isSparse === true ? stock : said;
};

const hasStock = (scenario: Scenario, field: FieldName): boolean =>
  valueOf(scenario, field) === fields[field].stock;

/** Refuses a field that does something with some kinds only: with another one a changed value is a wish. */
const kindRules: readonly ContradictionRule[] = fieldNames.flatMap((field) => {
  const { of, isHarmless }: Field = fields[field];
  const head = groupOf(field)?.head;
  if (of === undefined || isHarmless === true || head === undefined) return [];
  const kinds = new Set<unknown>(of);
  return {
    field,
    message: kindsInWords(field) ?? '',
    broken: (scenario) => !hasStock(scenario, field) && !kinds.has(valueOf(scenario, head)),
  };
});

/** By the field that chooses one. */
const kindsOf: readonly (readonly [FieldName, readonly KindDeclaration[]])[] = [
  ['fault', faultDeclarations],
  ['remedy', remedyDeclarations],
  ['disk', diskModeDeclarations],
  ['database', databaseDeclarations],
];

/** Fields that a kind leaves no choice, and why. */
const keptBy = ({ keeps = {}, only, fields: own = {} }: KindDeclaration, head: FieldName): Kept => {
  const free = new Set<string>([head, ...(only?.fields ?? []), ...Object.keys(own)]);
  const others = only === undefined ? [] : settableNames.filter((name) => !free.has(name));
  return { ...Object.fromEntries(others.map((name) => [name, only?.because ?? ''])), ...keeps };
};
type Kept = Readonly<Record<string, string>>;

/** Rules that kinds say themselves. */
const ownRules: readonly ContradictionRule[] = kindsOf.flatMap(([head, kinds]) =>
  kinds.flatMap((kind) => {
    const { name, needs = {}, takes = {} } = kind;
    const isChosen = (scenario: Scenario): boolean => scenario[head] === name;
    const kept = Object.entries(keptBy(kind, head)).map(
      ([field, why]): ContradictionRule => ({
        field: field as FieldName,
        message: `not with ${head} ${name}: ${why}`,
        broken: (scenario) => isChosen(scenario) && !hasStock(scenario, field as FieldName),
      }),
    );
    const needed = Object.entries(needs).map(
      ([field, message]): ContradictionRule => ({
        field: head,
        message,
        broken: (scenario) => isChosen(scenario) && hasStock(scenario, field as FieldName),
      }),
    );
    const taken = Object.entries(takes).map(
      ([field, words]): ContradictionRule => ({
        field: field as FieldName,
        message: `with ${head} ${name}: Allowed choices are ${words.join(', ')}.`,
        broken: (scenario) =>
          isChosen(scenario) && words.every((word) => word !== scenario[field as FieldName]),
      }),
    );
    return [...kept, ...needed, ...taken];
  }),
);

/** Whether a kind that is chosen leaves a field no choice. */
export const isKept = (scenario: Partial<Scenario>, field: FieldName): boolean =>
  kindsOf.some(([head, kinds]) =>
    kinds.some((kind) => kind.name === scenario[head] && field in keptBy(kind, head)),
  );

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
  ...ownRules,
];

/** Values that a kind which is chosen leaves; undefined where any goes with it. */
export const takenOf = (
  scenario: Partial<Scenario>,
  field: FieldName,
): readonly string[] | undefined =>
  kindsOf
    .flatMap(([head, kinds]) => kinds.filter(({ name }) => name === scenario[head]))
    .find(({ takes }) => takes?.[field] !== undefined)?.takes?.[field];

/** Empty where all fits. */
export const contradictions = (scenario: Scenario): Contradiction[] =>
  rules.filter(({ broken }) => broken(scenario)).map(({ field, message }) => ({ field, message }));
