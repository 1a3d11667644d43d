/**
 * Attacks on the evidence, made from the table of facts (lib/judge/facts/table.ts): each witness of each fact is
 * taken away, or altered so that it says something else than the others. Histories are written anew, so that
 * all their seals fit.
 */
import {
  type FactName,
  type Source,
  type Witness,
  factNames,
  facts,
  groupFacts,
  groupOnlyFacts,
} from '../../lib/judge/facts/table.ts';
import { type BaseName, isGroupBase } from './bases.ts';
import { faultAt } from './edit.ts';
import type { HeldRun, TimedRecord } from './held-run.ts';
import { type OnFiles, logAttacks } from './log-attacks.ts';
import { recounted } from './recount.ts';

export interface Attack {
  /** `mounted+unmounted gone on fenced`. */
  readonly name: string;
  /** The rows of the table that it attacks: `mounted/mounts`. */
  readonly of: readonly string[];
  readonly base: BaseName;
  readonly alter?: (run: HeldRun, donor: HeldRun) => void;
  readonly files?: OnFiles;
  /** It counts whatever witnesses state. Default: where one states something else. */
  readonly isLie?: true;
  /** The alteration is within what the witness may be off: the verdict must stay. */
  readonly isHarmless: boolean;
}

export interface AttackedRow {
  readonly lateMs: number;
  readonly of: readonly Source[];
}

/** Later than any witness may be. */
const farMs = 100_000;

export type Change = (
  own: readonly TimedRecord[],
  run: HeldRun,
  donor: HeldRun,
) => readonly TimedRecord[];

/** What becomes of a witness's records since the fault, in their order. */
const kinds: Readonly<Record<string, Change>> = {
  gone: () => [],
  'gone on the victim': (own, run) => own.filter((record) => nodeOf(record) !== victimOf(run)),
  'gone elsewhere': (own, run) =>
    own.filter((record) => [undefined, victimOf(run)].includes(nodeOf(record))),
  'gone in part': (own) => own.slice(0, Math.floor(own.length / 2)),
  late: ([first, ...rest]) => (first === undefined ? [] : [moved(first, farMs), ...rest]),
  early: (own) =>
    own.map((record, index) => (index === own.length - 1 ? moved(record, -farMs) : record)),
  shifted: (own) => own.map((record) => moved(record, farMs)),
  doubled: (own) => own.flatMap((record) => [record, moved(record, farMs)]),
  swapped: (own, run, donor) => (own.length === 0 ? [] : fromDonor(own, run, donor)),
  'of another node': (own, run) => own.map((record) => onOtherNode(record, run)),
  'of both nodes': (own, run) => own.flatMap((record) => [record, onOtherNode(record, run)]),
  contradicted: (own) => own.map(contrary),
  'counted twice': (own) => own.map(countedTwice),
};

const victimOf = ({ story }: HeldRun): string | undefined => story.victimNode;
const nodeOf = (record: TimedRecord): string | undefined =>
  'server' in record ? record.server?.node : 'node' in record ? record.node : undefined;

/** Others than devices count nothing. */
export const changesOf = (of: readonly Source[]): Readonly<Record<string, Change>> => {
  const { 'counted twice': counted, ...others } = kinds;
  return counted !== undefined && of.includes('device-written')
    ? { ...others, 'counted twice': counted }
    : others;
};

/** On one history only: what they leave differs little from one to the next. */
const onePerKind: ReadonlySet<string> = new Set([
  ...['gone on the victim', 'gone elsewhere', 'of both nodes', 'counted twice'],
]);

/** Not since the fault only. */
const throughout: ReadonlySet<string> = new Set([
  ...['of another node', 'of both nodes', 'counted twice'],
]);

const moved = <Any extends TimedRecord>(record: Any, byMs: number): Any => ({
  ...record,
  t: Math.round((record.t + byMs) * 1000) / 1000,
  ...(record.wall === undefined ? {} : { wall: record.wall + byMs }),
});

/** Another run's records of the same sources, as long after its fault. */
function fromDonor(
  own: readonly TimedRecord[],
  run: HeldRun,
  donor: HeldRun,
): readonly TimedRecord[] {
  const sources = new Set(own.map(sourceOf));
  const wallMs = (own[0]?.wall ?? 0) - (own[0]?.t ?? 0);
  return recordsOf(donor)
    .filter((record) => record.t >= faultAt(donor) && isOfRun(record, donor))
    .filter((record) => sources.has(sourceOf(record)))
    .map((record) => {
      const t = Math.round((record.t - faultAt(donor) + faultAt(run)) * 1000) / 1000;
      return { ...record, t, ...(record.wall === undefined ? {} : { wall: wallMs + t }) };
    });
}

export const sourceOf = (record: TimedRecord): string =>
  record.type === 'observation' ? record.name : isAnswer(record) ? 'answers' : record.type;
export const isAnswer = ({ type }: TimedRecord): boolean =>
  ['session', 'invoke', 'outcome', 'read'].includes(type);

const recordsOf = (run: HeldRun): TimedRecord[] =>
  (run.segments.get('run')?.records ?? []).filter((record) => record.type !== 'row');

/** The victim's become the successor's, and the other way round. */
function onOtherNode(record: TimedRecord, run: HeldRun): TimedRecord {
  const victim = victimOf(run);
  const other = run.story.setup?.nodes.find((node) => node !== victim);
  const swap = (node: string): string =>
    node === victim ? (other ?? node) : node === other ? (victim ?? node) : node;
  if ('server' in record && record.server !== undefined) {
    return { ...record, server: { ...record.server, node: swap(record.server.node) } };
  }
  return 'node' in record && record.node !== undefined
    ? { ...record, node: swap(record.node) }
    : record;
}

const opposites: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ['mounted', 'unmounted'],
    ['attachment-attached', 'attachment-gone'],
    ['attachment-created', 'attachment-gone'],
    ['pod-created', 'pod-gone'],
  ].flatMap(([one = '', other = '']) => [
    [one, other],
    [other, one],
  ]),
);
const otherWords: Readonly<Record<string, unknown>> = {
  ...{
    True: 'Unknown',
    Unknown: 'True',
    False: 'True',
    pass: 'stall',
    stall: 'pass',
    fail: 'pass',
  },
  ...{ NodeStageVolume: 'NodeUnstageVolume', NodeUnstageVolume: 'NodeStageVolume' },
  ...{ ControllerPublishVolume: 'ControllerUnpublishVolume' },
  ...{ ControllerUnpublishVolume: 'ControllerPublishVolume' },
  ...{ PRIMARY: 'SECONDARY', SECONDARY: 'PRIMARY' },
  ...{ unfenced: 'fenced', fenced: 'unfenced', ext4: 'xfs', done: 'healed', healed: 'done' },
};

/** Says the opposite: names, words and numbers. */
function contrary(record: TimedRecord): TimedRecord {
  const turned = turn(record) as TimedRecord;
  return turned.type === 'observation'
    ? ({ ...turned, name: opposites[turned.name] ?? turned.name } as TimedRecord)
    : turned;
}

const countedTwice = (record: TimedRecord): TimedRecord =>
  record.type === 'observation' && typeof record.data.bytesWritten === 'number'
    ? ({
        ...record,
        data: { ...record.data, bytesWritten: 2 * record.data.bytesWritten },
      } as TimedRecord)
    : record;

function turn(value: unknown, key = ''): unknown {
  if (typeof value === 'string') return otherWords[value] ?? value;
  if (typeof value === 'number') return kept.has(key) ? value : 2 * value + 1;
  if (Array.isArray(value)) return value.map((each) => turn(each));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, turn(each, name)]));
}
const kept: ReadonlySet<string> = new Set([
  't',
  'wall',
  'connection',
  'session',
  'seq',
  'schemaVersion',
]);

/** The records since the fault that come from these sources become others; each file stays in order of time. */
/** What a pool's other nodes do is no matter of this run. */
const isOfRun = (record: TimedRecord, { story: { setup } }: HeldRun): boolean => {
  const node = record.type === 'observation' ? record.node : undefined;
  return node === undefined || setup === undefined || setup.nodes.includes(node);
};

export function replaceIn(
  run: HeldRun,
  donor: HeldRun,
  of: readonly string[],
  change: Change,
  sinceMs = faultAt(run),
  typeOf = sourceOf,
): void {
  for (const segment of run.segments.values()) {
    const isOwn = (record: { readonly type: string }): record is TimedRecord =>
      record.type !== 'row' &&
      of.includes(typeOf(record as TimedRecord)) &&
      isOfRun(record as TimedRecord, run) &&
      (wholeRun.includes(record.type) || (record as TimedRecord).t >= sinceMs);
    const own = segment.records.filter(isOwn);
    if (own.length === 0) continue;
    const rest = segment.records.filter((record) => !isOwn(record));
    segment.records = [...rest, ...change(own, run, donor)].toSorted(inOrder);
  }
}

const wholeRun: readonly string[] = ['run', 'setup'];

/** The run's list of its files comes last. */
const inOrder = (a: object, b: object): number => {
  const place = (record: object): number =>
    'type' in record && record.type === 'segments'
      ? Infinity
      : 't' in record
        ? Number(record.t)
        : 0;
  return place(a) === place(b) ? 0 : place(a) - place(b);
};

/** Settings of the scenario and of the testbed, each altered by itself. */
const settings: Readonly<Record<'run' | 'setup', readonly string[]>> = {
  run: [
    ...['disk.mode', 'disk.flushes', 'disk.cutAfter', 'volume.filesystem', 'kubernetes.version'],
    ...['timers.grace', 'timers.toleration', 'timers.forceDetachAfter', 'fault.kind', 'fault.link'],
    ...['remedy.kind', 'remedy.at', 'also.kind', 'load.rate', 'load.connections'],
    ...['workload.terminationGrace', 'selfFence.kind', 'watch.horizon', 'watch.overlap'],
    ...['database.trxCommit', 'disk.fileLocks'],
  ],
  setup: [
    ...['timers.nodeMonitorGraceMs', 'timers.tolerationMs', 'timers.forceDetachAfterMs'],
    ...['versions.kubernetes', 'volume.volume'],
  ],
};

export const settingValues: Readonly<Record<string, unknown>> = {
  ...{ 'disk.mode': 'ack-early', 'disk.flushes': 'ignored', 'volume.filesystem': 'xfs' },
  ...{ 'kubernetes.version': '1.34', 'fault.kind': 'freeze', 'fault.link': 'stalls' },
  ...{ 'remedy.kind': 'delete-node', 'remedy.at': 'not-ready', 'also.kind': 'attacher-down' },
  ...{ 'selfFence.kind': 'lease', 'versions.kubernetes': '1.34.9', 'volume.volume': 'fd-other' },
  ...{ 'database.trxCommit': 0, 'disk.fileLocks': 'local', 'load.rate': 7, 'load.connections': 5 },
};

export function withSetting(
  record: TimedRecord,
  path: string,
  stated: unknown = settingValues[path],
): TimedRecord {
  const [group = '', field = ''] = path.split('.');
  const within = record.type === 'run' ? record.scenario : record;
  const values = (within as unknown as Record<string, Record<string, unknown>>)[group] ?? {};
  const value = stated ?? 2 * Number(values[field] ?? 0) + 1000;
  const changed = { ...within, [group]: { ...values, [field]: value } };
  return (record.type === 'run' ? { ...record, scenario: changed } : changed) as TimedRecord;
}

/** Half of the time the wall clock is ten minutes back. */
const clockBack: Change = (own) =>
  own.map((record, index) =>
    index < own.length / 2 || record.wall === undefined
      ? record
      : { ...record, wall: record.wall - 600_000 },
  );

export type Kind = Pick<Attack, 'alter' | 'files' | 'isHarmless'> & { readonly kind: string };

export function attacksOn(witness: Witness, { of, lateMs }: AttackedRow): Kind[] {
  const altered = (kind: string, become: Change, isHarmless = false): Kind => ({
    ...{ kind, isHarmless },
    alter: (run, donor) => {
      const sinceMs = throughout.has(kind) ? 0 : faultAt(run);
      const replace = (each: HeldRun): void => replaceIn(each, donor, of, become, sinceMs);
      if (of.includes('answers')) recounted(replace)(run);
      else replace(run);
    },
  });
  if (of.includes('log')) {
    return logAttacks(lateMs).map(([kind, files, isHarmless]) => ({ kind, files, isHarmless }));
  }
  if (of.includes('stamp')) return [{ kind: 'set back', alter: clocksBack, isHarmless: false }];
  const from = of.find((source) => source === 'run' || source === 'setup');
  if (from !== undefined) {
    return settings[from].map((path) =>
      altered(`${path} contradicted`, (own) => own.map((record) => withSetting(record, path))),
    );
  }
  const less = lateMs > 1000 && witness !== 'clients';
  return [
    ...Object.entries(changesOf(of)).map(([kind, become]) => altered(kind, become)),
    ...(less
      ? [altered('late by less', (own) => own.map((each) => moved(each, lateMs / 2)), true)]
      : []),
  ];
}

function clocksBack(run: HeldRun, donor: HeldRun): void {
  const all = [...new Set(recordsOf(run).map(sourceOf))] as Source[];
  replaceIn(run, donor, all, clockBack);
}

/** Facts that are stated of such a run. */
export const holdsOn = (base: BaseName): readonly FactName[] =>
  isGroupBase(base) ? groupFacts : factNames.filter((fact) => !groupOnlyFacts.includes(fact));

/** Every attack on every witness of every fact; one that two rows share is made once. */
export function attacksOf(bases: readonly BaseName[]): Attack[] {
  const attacks = new Map<string, Attack>();
  for (const fact of factNames) {
    for (const [witness, row] of Object.entries(facts[fact].witnesses) as [
      Witness,
      AttackedRow,
    ][]) {
      for (const base of bases.filter((each) => holdsOn(each).includes(fact))) {
        for (const { kind, ...attack } of attacksOn(witness, row)) {
          if (!['fenced', 'group'].includes(base) && onePerKind.has(kind)) continue;
          const name = `${row.of.join('+')} ${kind} on ${base}`;
          const known = attacks.get(name);
          const of = [...(known?.of ?? []), `${fact}/${witness}`];
          attacks.set(name, { ...{ name, of, base }, ...attack });
        }
      }
    }
  }
  return [...attacks.values()];
}
