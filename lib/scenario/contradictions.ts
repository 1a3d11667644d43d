/** Fields of a scenario that don't fit together: a run of such a one would answer another question. */
import { databaseDeclarations } from './database-kinds/index.ts';
import { diskModeDeclarations, isDirectory } from './disks/index.ts';
import { faultDeclarations, losesPower, sparesVictim } from './faults/index.ts';
import { actsOn, remedyDeclarations, removesPod } from './remedies/index.ts';
import type { Field } from './fields/field.ts';
import type { KindDeclaration } from './fields/of-kinds.ts';
import { fields } from './fields.ts';
import {
  fieldNames,
  groupOf,
  kindsInWords,
  settableNames,
  type FieldName,
} from './written-paths.ts';
import type { Scenario } from './scenario-record.ts';

export interface Contradiction {
  readonly field: FieldName;
  /** What is wrong and what would be right. */
  readonly message: string;
}

interface ContradictionRule extends Contradiction {
  readonly broken: Reading<boolean>;
}

type Reading<T> = (scenario: Scenario) => T;

/** What a field says, also where the record leaves it out. Looked up once: a sweep asks of each schedule. */
function valueOf(field: FieldName): Reading<unknown> {
  const { stock, isSparse }: Field = fields[field];
  return isSparse === true
    ? (scenario) => (scenario[field] === undefined ? stock : scenario[field])
    : (scenario) => scenario[field];
}

function hasStock(field: FieldName): Reading<boolean> {
  const value = valueOf(field);
  const { stock }: Field = fields[field];
  return (scenario) => value(scenario) === stock;
}

/** Refuses a field that does something with some kinds only: with another one a changed value is a wish. */
const kindRules: readonly ContradictionRule[] = fieldNames.flatMap((field) => {
  const { of, isHarmless }: Field = fields[field];
  const head = groupOf(field)?.head;
  if (of === undefined || isHarmless === true || head === undefined) return [];
  const kinds = new Set<unknown>(of);
  const [isUnchanged, kindIn] = [hasStock(field), valueOf(head)];
  return {
    field,
    message: kindsInWords(field) ?? '',
    broken: (scenario) => !isUnchanged(scenario) && !kinds.has(kindIn(scenario)),
  };
});

/** What a kind asks of a scenario that chooses it. */
interface ChosenKind {
  /** Fields that it leaves no choice, and why. */
  readonly kept: Readonly<Record<string, string>>;
  /** Values of fields that go with it. Absent: any does. */
  readonly takes: Readonly<Record<string, readonly string[]>>;
  /** Rules that it says itself. */
  readonly rules: readonly ContradictionRule[];
}

function chosenKind(head: FieldName, kind: KindDeclaration): ChosenKind {
  const { name, changes = {}, takes = {} } = kind;
  const kept = keptBy(kind, head);
  const ownRules = [
    ...Object.entries(kept).map(([field, why]): ContradictionRule => {
      const isUnchanged = hasStock(field as FieldName);
      return {
        field: field as FieldName,
        message: `not with ${head} ${name}: ${why}`,
        broken: (scenario) => !isUnchanged(scenario),
      };
    }),
    ...Object.entries(changes).map(
      ([field, message]): ContradictionRule => ({
        field: head,
        message,
        broken: hasStock(field as FieldName),
      }),
    ),
    ...Object.entries(takes).map(
      ([field, words]): ContradictionRule => ({
        field: field as FieldName,
        message: `with ${head} ${name}: Allowed choices are ${words.join(', ')}.`,
        broken: (scenario) => words.every((word) => word !== scenario[field as FieldName]),
      }),
    ),
  ];
  return { kept, takes, rules: ownRules };
}

function keptBy(
  { keeps = {}, only, fields: own = {} }: KindDeclaration,
  head: FieldName,
): ChosenKind['kept'] {
  const free = new Set<string>([head, ...(only?.fields ?? []), ...Object.keys(own)]);
  const others = only === undefined ? [] : settableNames.filter((name) => !free.has(name));
  return { ...Object.fromEntries(others.map((name) => [name, only?.because ?? ''])), ...keeps };
}

const kindsOf = (
  head: FieldName,
  kinds: readonly KindDeclaration[],
): readonly [FieldName, ReadonlyMap<unknown, ChosenKind>] => [
  head,
  new Map(kinds.map((kind) => [kind.name, chosenKind(head, kind)])),
];

/** By the field that chooses one. */
const allKinds = [
  kindsOf('fault', faultDeclarations),
  kindsOf('remedy', remedyDeclarations),
  kindsOf('disk', diskModeDeclarations),
  kindsOf('database', databaseDeclarations),
];

/** Those that a scenario names: of all others nothing need be asked. */
const chosenIn = (scenario: Partial<Scenario>): ChosenKind[] =>
  allKinds.flatMap(([head, kinds]) => kinds.get(scenario[head]) ?? []);

/** Whether a kind that is chosen leaves a field no choice. */
export const isKept = (scenario: Partial<Scenario>, field: FieldName): boolean =>
  chosenIn(scenario).some(({ kept }) => field in kept);

/** Values that a kind which is chosen leaves; undefined where any goes with it. */
export const takenOf = (
  scenario: Partial<Scenario>,
  field: FieldName,
): readonly string[] | undefined =>
  chosenIn(scenario).find(({ takes }) => takes[field] !== undefined)?.takes[field];

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
    message: 'the controller manager can switch it off since Kubernetes 1.30 (#120344)',
    broken: ({ forceDetach, kubernetes }) =>
      forceDetach === 'off' && (kubernetes === '1.28' || kubernetes === '1.29'),
  },
  {
    field: 'recreations',
    message: 'pods are deleted one by one, and nothing else is done: remedy none',
    broken: ({ recreations, remedy }) => recreations > 0 && remedy !== 'none',
  },
  {
    field: 'preStopS',
    message: 'the database would be killed before it gets SIGTERM: less than terminationGraceS',
    broken: ({ preStopS, terminationGraceS }) => preStopS > 0 && preStopS >= terminationGraceS,
  },
];

/** Empty where all fits. */
export function contradictions(scenario: Scenario): Contradiction[] {
  const found: Contradiction[] = [];
  const ask = ({ field, message, broken }: ContradictionRule): void => {
    if (broken(scenario)) found.push({ field, message });
  };
  rules.forEach(ask);
  for (const kind of chosenIn(scenario)) kind.rules.forEach(ask);
  return found;
}
