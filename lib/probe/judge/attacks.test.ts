/**
 * Attacks on the probe's records, made from its table of facts: what each witness is read from is taken away, put
 * earlier or later, doubled or swapped with another trial's. None may lead to another outcome, but those of the list.
 */
import { expect, test } from 'vitest';
import { committedRecords } from '../../../bench/probe.ts';
import { classifyCut } from './cut.ts';
import { type DetachRecord, classify } from './detach.ts';
import { facts } from './facts.ts';
import { classifyForced } from './forced.ts';
import { type CutRecord, type CutVolume, type TrialRecord, emptyJournal } from './record.ts';

interface Base {
  readonly name: string;
  /** Of the trial, or of the cut and its volume: one flat record, as the table's. */
  readonly record: Flat;
  readonly zeroMs: number;
  readonly judge: (record: Flat) => {
    readonly outcome: string;
    readonly reasons: readonly { readonly code: string }[];
  };
}
type Flat = Readonly<Record<string, unknown>>;

const { certificates, cuts } = committedRecords();

function ofTrial(storageClass: string, trial: string): Base {
  const { trials = [], plan } =
    certificates.find(({ storageClass: { name } }) => name === storageClass) ?? {};
  const record = trials.find(({ name }) => name === trial);
  if (record === undefined || plan === undefined) throw new Error(`${storageClass} ${trial}?`);
  return {
    ...{ name: `${storageClass} ${trial}`, record: { ...record } },
    zeroMs: record.deleteAskedMs ?? 0,
    judge: (altered) =>
      record.variant === 'force-deleted'
        ? classifyForced(altered as unknown as TrialRecord, plan)
        : classify(altered as unknown as DetachRecord, plan),
  };
}

function ofCut(storageClass: string, outcome: string): Base {
  for (const { record: cut, plan } of cuts) {
    for (const volume of cut.volumes) {
      const isIt = volume.storageClass === storageClass;
      if (!isIt || classifyCut(cut, volume, plan).outcome !== outcome) continue;
      return {
        ...{ name: `${storageClass} ${outcome}`, record: { ...volume, ...cut } },
        zeroMs: cut.cutMs ?? 0,
        judge: (altered) =>
          classifyCut(altered as unknown as CutRecord, altered as unknown as CutVolume, plan),
      };
    }
  }
  throw new Error(`no cut of ${storageClass} came to ${outcome}`);
}

const bases = [
  ...[ofTrial('basalt', 'kept-1'), ofTrial('dolomite', 'kept-1'), ofTrial('amber', 'contested-1')],
  ...[ofTrial('basalt', 'idle-1'), ofTrial('basalt', 'force-deleted-1')],
  ...[ofCut('basalt', 'cut-at-detach'), ofCut('amber', 'both-wrote')],
];

const farMs = 100_000;
const isTime = (key: string): boolean => key.endsWith('Ms') && !/^tookMs$|Clock|^clock/.test(key);

function moved(value: unknown, byMs: number, key = ''): unknown {
  if (typeof value === 'number') return isTime(key) ? value + byMs : value;
  if (Array.isArray(value)) return value.map((each) => moved(each, byMs));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, moved(each, byMs, name)]),
  );
}

type Kind = (value: unknown, key: string, base: Base, donor: Base) => unknown;
const kinds: Readonly<Record<string, Kind>> = {
  gone: (value, key) =>
    key.endsWith('Journal') ? emptyJournal : Array.isArray(value) ? [] : undefined,
  late: (value, key) => moved(value, farMs, key),
  early: (value, key) => moved(value, -farMs, key),
  doubled: (value, key) =>
    Array.isArray(value)
      ? [...value, ...(moved(value, farMs) as unknown[])]
      : key.endsWith('Journal')
        ? doubledWrites(value as TrialRecord['writerJournal'])
        : value,
  swapped: (_, key, base, donor) => moved(donor.record[key], base.zeroMs - donor.zeroMs, key),
};

const doubledWrites = (journal: TrialRecord['writerJournal']): unknown => ({
  ...journal,
  writes: [...journal.writes, ...(moved(journal.writes, farMs) as typeof journal.writes)],
});

function altered(
  base: Base,
  of: readonly string[],
  change: (value: unknown, key: string) => unknown,
): Flat {
  const fields = of.filter((key) => base.record[key] !== undefined);
  const become = fields.map((key) => [key, change(base.record[key], key)] as const);
  const { ...record } = base.record as Record<string, unknown>;
  for (const [key, value] of become) {
    if (value === undefined) delete record[key];
    else record[key] = value;
  }
  return record;
}

/** Fields that witnesses are read from, each set once, and how late the witness may be. */
const sources = new Map(
  Object.values(facts)
    .flatMap(
      ({ witnesses }) => Object.values(witnesses) as { of: readonly string[]; lateMs: number }[],
    )
    .map(({ of, lateMs }) => [of.join('+'), { of, lateMs }] as const),
);

const attacks = bases.flatMap((base, index) =>
  [...sources].flatMap(([source, { of }]) =>
    Object.entries(kinds).map(([kind, change]) => ({
      name: `${source} ${kind} on ${base.name}`,
      base,
      record: altered(base, of, (value, key) =>
        change(value, key, base, bases[(index + 1) % bases.length] ?? base),
      ),
    })),
  ),
);

/** By their beginnings, each with whose lie it is. */
const swappedJournals =
  'the journals: nothing in an older one names its volume, nor a slot its time';
const end = 'the attachment’s observer, of when it ended';
const trusted: Readonly<Record<string, string>> = {
  'writerJournal swapped': swappedJournals,
  'writerJournal+nextJournal+clockOffsetMs+nextClockOffsetMs swapped': swappedJournals,
  'thereUntilMs+goneMs gone': end,
  'thereUntilMs+goneMs late': end,
  'watchEndedMs early on basalt force-deleted-1':
    'the probe, of when its watch of such a pod ended',
  'writerJournal late on basalt force-deleted-1': 'the clock of a node whose pod ran for seconds',
};
const isTrusted = (attack: string): boolean =>
  Object.keys(trusted).some((begin) => attack.startsWith(begin));

const usual = new Map(bases.map((base) => [base, base.judge(base.record).outcome]));

test('no attack on one witness leads to another outcome', () => {
  const believed = attacks.filter(({ base, record }) => {
    const { outcome } = base.judge(record);
    return outcome !== 'undecided' && outcome !== usual.get(base);
  });
  expect(attacks.length).toBeGreaterThan(500);
  expect(believed.length / attacks.length).toBeLessThan(0.05);
  expect(believed.map(({ name }) => name).filter((name) => !isTrusted(name))).toEqual([]);
});

test('a witness that is late within its tolerance contradicts nobody', () => {
  const flagged = bases.flatMap((base) =>
    [...sources].flatMap(([source, { of, lateMs }]) => {
      // The probe's own delete is what all times are counted from.
      if (of.includes('deleteAskedMs')) return [];
      const record = altered(base, of, (value, key) => moved(value, lateMs / 2, key));
      const isFlagged = base
        .judge(record)
        .reasons.some(({ code }) => code === 'WITNESSES_DISAGREE');
      return isFlagged ? [`${source} on ${base.name}`] : [];
    }),
  );
  expect(flagged).toEqual([]);
});
