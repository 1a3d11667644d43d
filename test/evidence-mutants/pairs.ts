/** Two witnesses of one fact fail at once, or tell the same lie: attacks made from the table of facts. */
import { type FactName, type Witness, factNames, facts } from '../../lib/judge/facts/table.ts';
import {
  type Attack,
  type AttackedRow,
  type Change,
  type Kind,
  attacksOn,
  replaceIn,
  settingValues,
  withSetting,
} from './attacks.ts';
import type { TimedRecord } from './held-run.ts';

/** Whose lies they are: `cut/log+devices`. */
export type PairName = `${FactName}/${Witness}+${Witness}`;

/** On any history. */
export interface PairAttack extends Pick<Attack, 'alter' | 'files'> {
  /** `device-cut+log gone`. */
  readonly name: string;
  readonly kind: string;
  readonly pairs: readonly PairName[];
}

/** What each of the two does. A log that hides a cut lacks the ends of its paths only. */
const together: readonly (readonly [kind: string, records: string, log: string])[] = [
  ...['gone', 'gone elsewhere', 'shifted', 'swapped'].map(alike),
  ...['of another node', 'contradicted', 'counted twice'].map(alike),
  ['ends gone', 'gone', 'contradicted'],
];
function alike(kind: string): readonly [string, string, string] {
  return [kind, kind, kind];
}

type Half = readonly [witness: Witness, row: AttackedRow];

const halvesOf = (fact: FactName): Half[] => Object.entries(facts[fact].witnesses) as Half[];

function attacksOnBoth(fact: FactName, one: Half, other: Half): Kind[] {
  if (fact === 'setting') return sharedSettings.flatMap((each) => sameSetting(each, one, other));
  const [ofOne, ofOther] = [one, other].map(
    (half) => new Map(attacksOn(...half).map((each) => [each.kind, each])),
  );
  return together.flatMap(([kind, records, log]) => {
    if (kind === 'ends gone' && !isLog(one) && !isLog(other)) return [];
    const a = ofOne?.get(isLog(one) ? log : records);
    const b = ofOther?.get(isLog(other) ? log : records);
    return a === undefined || b === undefined ? [] : [inTurn(kind, a, b)];
  });
}

const isLog = ([, { of }]: Half): boolean => of.includes('log');

type Alone = Pick<Kind, 'alter' | 'files'>;

const inTurn = (kind: string, one: Alone, other: Alone): Kind => ({
  ...{ kind, isHarmless: false },
  alter: (run, donor) => {
    one.alter?.(run, donor);
    other.alter?.(run, donor);
  },
  ...((one.files ?? other.files) && {
    files: (...about) => {
      one.files?.(...about);
      other.files?.(...about);
    },
  }),
});

/** A setting as each of its witnesses has it: a path of a record, or a key of the driver's calls. */
type SharedSetting = Readonly<Partial<Record<Witness, string>>>;
const sharedSettings: readonly SharedSetting[] = [
  { scenario: 'kubernetes.version', setup: 'versions.kubernetes' },
  { scenario: 'timers.grace', setup: 'timers.nodeMonitorGraceMs' },
  { scenario: 'timers.toleration', setup: 'timers.tolerationMs' },
  { scenario: 'timers.forceDetachAfter', setup: 'timers.forceDetachAfterMs' },
  { scenario: 'volume.filesystem', driver: 'fsType' },
  { scenario: 'disk.mode', driver: 'detachMode' },
  { scenario: 'disk.cutAfter', driver: 'cutAfterMs' },
  ...['flushes', 'fileLocks'].map((key) => ({ scenario: `disk.${key}`, driver: key })),
  { setup: 'volume.volume', driver: 'volume', mounts: 'volume' },
];

function sameSetting(setting: SharedSetting, one: Half, other: Half): Kind[] {
  const name = setting.scenario ?? setting.setup ?? '?';
  const stating = ([witness, { of }]: Half): Alone | undefined => {
    const path = setting[witness];
    const value = name === 'disk.mode' ? 'unfenced' : (settingValues[name] ?? 77_000);
    const become: Change = (own) =>
      own.map((record) =>
        record.type === 'observation'
          ? stated(record, path ?? '?', value)
          : withSetting(record, path ?? '?', value),
      );
    return path === undefined
      ? undefined
      : { alter: (run, donor) => replaceIn(run, donor, of, become, 0) };
  };
  const [a, b] = [stating(one), stating(other)];
  return a === undefined || b === undefined ? [] : [inTurn(`state another ${name}`, a, b)];
}

type Stated = Extract<TimedRecord, { readonly type: 'observation' }>;

/** An observer's record, or a call, that has the setting. */
function stated(record: Stated, key: string, value: unknown): TimedRecord {
  const changed = JSON.stringify(record.data, (name, each: unknown) =>
    name === key && typeof each === 'string' ? String(value) : each,
  );
  return { ...record, data: JSON.parse(changed) as Stated['data'] } as TimedRecord;
}

const unionOf = (one: Half, other: Half): string =>
  [...new Set([...one[1].of, ...other[1].of])].toSorted().join('+');

/** Whoever is read from the same records tells no second lie. */
const areTwo = (one: Half, other: Half): boolean =>
  [one, other].every(([, { of }]) => of.toSorted().join('+') !== unionOf(one, other));

const pairsIn = (fact: FactName): (readonly [Half, Half])[] =>
  halvesOf(fact).flatMap((one, index, halves) =>
    halves
      .slice(index + 1)
      .filter((other) => areTwo(one, other))
      .map((other) => [one, other] as const),
  );

/** Every attack on two witnesses of a fact; one that two facts share is made once. */
export function pairAttacks(): PairAttack[] {
  const attacks = new Map<string, PairAttack>();
  for (const fact of factNames) {
    for (const [one, other] of pairsIn(fact)) {
      for (const { kind, alter, files } of attacksOnBoth(fact, one, other)) {
        const name = `${unionOf(one, other)} ${kind}`;
        const pair: PairName = `${fact}/${one[0]}+${other[0]}`;
        const pairs = [...(attacks.get(name)?.pairs ?? []), pair];
        attacks.set(name, { name, kind, pairs, ...(alter && { alter }), ...(files && { files }) });
      }
    }
  }
  return [...attacks.values()];
}
