/** Verdict and history to everything that a run's page shows: plain data. Pure. */
import {
  type History,
  type ObservationRecord,
  observed,
  type SmallRecord,
} from '../history/index.ts';
import {
  exposureOf,
  type LicenceStep,
  type Story,
  tellStory,
  type Verdict,
} from '../judge/index.ts';
import type { Database } from '../run/index.ts';
import { operationColumns, type Series } from './axis/operations.ts';
import type { Tone } from './axis/palette.ts';
import type { Bar, Timeline } from './axis/timeline.ts';
import { Lanes } from './lanes.ts';
import { lossRows } from './loss-words.ts';
import { runAdvice, runFacts, runScreen } from './run-screen.ts';
import { notTested, zeroOf } from './wording.ts';

export type LicenceRow = ReturnType<typeof licenceRows>[number];

export type RecoveryStep = ReturnType<typeof recoverySteps>[number];

export type ReportData = ReturnType<typeof reportData>;

/** What a report is made from, besides the verdict. */
export type ReportSource = Pick<History, 'smallRecords' | 'ops'>;

/** The axis begins so long before there is a database. */
const leadMs = 5000;

export function reportData(verdict: Verdict, source: ReportSource, database: Database) {
  const small = [...source.smallRecords()];
  const lanes = new Lanes(database);
  for (const record of small) lanes.see(record);
  const story = tellStory(small, database);
  const startMs = small[0]?.t ?? 0;
  const { endAtMs } = story;
  const zeroMs = story.faultAtMs ?? startMs;
  const { rows, more } = rawRows(small, zeroMs);
  const fromS = Math.floor((Math.max(startMs, databaseAtMs(story) - leadMs) - zeroMs) / 1000);
  const toS = Math.ceil((endAtMs - zeroMs) / 1000);
  const exposure = exposureBand(verdict, story, zeroMs);
  const { licence, licenceGaps, laterLicences } = verdict;
  const timeline: Timeline = {
    ...{ zero: zeroOf(verdict), fromS, toS, exposure },
    first: firstView(verdict, exposure, [fromS, toS]),
    lanes: lanes.result(zeroMs, endAtMs),
    moments: momentsOf(story, verdict),
    written: writtenSeries(story.observations, zeroMs),
  };
  return {
    ...{ verdict, timeline, licenceGaps },
    first: runScreen(verdict, database),
    facts: runFacts(verdict, database),
    /** Empty where no copy can tell. */
    loss: lossRows(verdict),
    licence: licenceRows(licence, rows),
    /** How the volume passed from one node to another once more. */
    laterLicences: laterLicences.map(({ from, to, atS, overlaps, steps, gaps }) => ({
      title: `${atS.toFixed(1)} s: from ${from}${overlaps ? ', which still had it,' : ''} to ${to}`,
      rows: licenceRows(steps, rows),
      gaps,
    })),
    recovery: recoverySteps(verdict),
    ...runAdvice(verdict, database),
    notTested: notTested(verdict),
    modelLimits: modelLimits(story),
    /** Every record but operations; `rawMore` rows past a great many are only in the history. */
    raw: rows,
    rawMore: more,
    operations: operationColumns(source.ops(), zeroMs, endAtMs),
  };
}

/** Building images and a cluster may take an hour, of which there is nothing to see. */
function databaseAtMs({ observations, records, faultAtMs }: Story): number {
  const mounted = observations.find(({ name }) => name === observed.mounted)?.t;
  const steady = records.find((record) => record.type === 'phase' && record.phase === 'steady')?.t;
  return Math.min(mounted ?? Infinity, steady ?? Infinity, faultAtMs ?? 0);
}

/** With the raw row that proves each; null where none was matched. */
const licenceRows = (steps: readonly LicenceStep[], rows: readonly RawRow[]) =>
  steps.map((each) => ({ ...each, rowId: proofOf(rows, each) }));

function modelLimits({ observations }: Story): string[] {
  const found = observations.find(({ source, name }) => source === 'model' && name === 'limits');
  const limits = found?.data.limits;
  return Array.isArray(limits) ? limits.map(String) : [];
}

/** When it broke, was acted upon, was mended; then what happened in between. */
function momentsOf({ records, faultAtMs = 0 }: Story, verdict: Verdict): Bar[] {
  const { phases } = verdict;
  const at = (atS: number, tone: Tone, label: string): Bar => ({
    ...{ fromS: atS, toS: atS, tone, label },
  });
  const actions = records
    .filter((record) => record.type === 'action')
    .flatMap(({ actor, name, step, t }): Bar[] => {
      const atS = Math.round(t - faultAtMs) / 1000;
      const zero = at(atS, zeroOf(verdict) === 'fault' ? 'bad' : 'neutral', zeroOf(verdict));
      if (actor === 'fault' && step === 'begin') return [zero];
      if (actor === 'fault' && step === 'heal') return [at(atS, 'good', 'heal')];
      if (actor === 'remedy' && step === 'begin') return [at(atS, 'action', name)];
      return [];
    });
  const named = [
    ['second mount', phases.secondMount],
    ['first commit', phases.firstCommit],
    ['detached', phases.detached],
    ['NotReady', phases.notReady],
    ['evicted', phases.evicted],
    ['pod gone', phases.podRemoved],
  ] as const;
  return [
    ...actions,
    ...named.flatMap(([label, atS]) => (atS === null ? [] : [at(atS, 'neutral', label)])),
  ];
}

/** The fault and what it led to, with room on both sides; within the whole axis. */
function firstView(
  { phases: { secondMount, firstCommit } }: Verdict,
  exposure: Bar | null,
  [fromS, toS]: readonly [number, number],
): [number, number] {
  const last = Math.max(secondMount ?? 0, firstCommit ?? 0, exposure?.toS ?? 0);
  if (last === 0) return [fromS, toS];
  const roomS = Math.max(10, last * 0.06);
  return [Math.max(fromS, Math.floor(-roomS)), Math.min(toS, Math.ceil(last + roomS))];
}

/** The verdict has it from the disk's log; where there was none, it follows from the observations. */
function exposureBand({ exposure }: Verdict, story: Story, zeroMs: number): Bar | null {
  const band = { tone: 'bad', label: 'two could write' } as const;
  const { ms, fromS, toS } = exposure;
  if (fromS !== undefined && toS !== undefined) return { fromS, toS, ...band };
  const { from, to } = exposureOf(story);
  if (ms === 0 || from === undefined || to === undefined) return null;
  const seconds = (ms: number): number => Math.round(ms - zeroMs) / 1000;
  return { fromS: seconds(from), toS: seconds(to), ...band };
}

export function recoverySteps({ phases }: Pick<Verdict, 'phases'>) {
  const named = [
    ['detection', phases.notReady],
    ['eviction', phases.evicted],
    ['removal', phases.podRemoved],
    ['detach', phases.detached],
    ['attach', phases.attached],
    ['mount', phases.secondMount],
    ['database recovery', phases.recovered],
    ['first commit', phases.firstCommit],
  ] as const;
  const steps: { readonly name: string; readonly fromS: number; readonly toS: number }[] = [];
  let fromS = 0;
  for (const [name, toS] of named) {
    if (toS === null || toS < fromS) continue;
    steps.push({ name, fromS, toS });
    fromS = toS;
  }
  return steps;
}

const mebibyte = 1024 * 1024;

/** MiB written per device since it was attached: a line each on the time axis. */
function writtenSeries(observations: readonly ObservationRecord[], zeroMs: number): Series[] {
  const lines = Map.groupBy(
    observations.filter(({ name }) => name === observed.deviceWritten),
    ({ node = '', data: { device } }) => (typeof device === 'string' ? `${node} ${device}` : node),
  );
  return [...lines]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, all]) => {
      const points = all.map(({ t, data }) => {
        const mib = (data.bytesWritten ?? 0) / mebibyte;
        return [Math.round(t - zeroMs) / 1000, Math.round(mib * 100) / 100] as const;
      });
      // A counter that stands still needs its first and its last point only.
      const turns = points.filter(
        ([, value], index) => value !== points[index - 1]?.[1] || value !== points[index + 1]?.[1],
      );
      return { name, points: turns };
    });
}

/** A record as a table row; its `id` is its number among those that are no operations. */
type RawRow = ReturnType<typeof rawRows>['rows'][number];

/** More than any run has left; a history that grew wild must not make a page nobody can open. */
const maxRows = 100_000;
const maxText = 2000;
/** A licence step names its moment to the millisecond; rounding may be off by one. */
const matchWithinS = 0.002;

/** Observations that tell the story; the page shows them without JavaScript, too. */
const telling = new Set<string>([
  observed.nodeReady,
  observed.nodeGone,
  observed.nodeTaints,
  observed.podScheduled,
  observed.podRunning,
  observed.podReady,
  observed.podTerminating,
  observed.podGone,
  observed.attachmentCreated,
  observed.attachmentAttached,
  observed.attachmentDeleting,
  observed.attachmentGone,
  observed.volumesAttached,
  observed.forceDetachLog,
  observed.csiCall,
  observed.mounted,
  observed.unmounted,
  observed.deviceCut,
  observed.linkChanged,
]);

function rawRows(records: readonly SmallRecord[], zeroMs: number) {
  const rows = records.slice(0, maxRows).map((record, id) => ({
    id,
    /** The page has it without JavaScript, too. */
    isKey: isKey(record),
    ...describe(record),
    atS: Math.round(record.t - zeroMs) / 1000,
  }));
  return { rows, more: records.length - rows.length };
}

const isKey = (record: SmallRecord): boolean =>
  record.type === 'observation'
    ? telling.has(record.name)
    : ['phase', 'action', 'certificate', 'error', 'setup', 'run'].includes(record.type);

function proofOf(
  rows: readonly RawRow[],
  step: { readonly atS: number; readonly source: string; readonly evidence?: string },
): number | null {
  const near = rows.filter((row) => Math.abs(row.atS - step.atS) <= matchWithinS);
  const named = near.filter((each) => each.source === step.source);
  const row =
    named.find((each) => step.evidence?.startsWith(`${each.kind} `)) ?? named[0] ?? near[0];
  return row?.id ?? null;
}

function describe(record: SmallRecord) {
  const { type, t: _t, wall: _wall, ...rest } = record;
  if (type === 'observation') {
    const { source, name, node, data } = record;
    return { kind: name, source, text: join(node, json(data)) };
  }
  if (type === 'action') {
    const { actor, name, step, node, detail } = record;
    return { kind: `${name} ${step}`, source: actor, text: join(node, detail) };
  }
  if (type === 'certificate') {
    const { fault, moment, claim, holds, evidence } = record;
    const text = `${moment}: ${claim}: ${holds ? 'holds' : 'DOES NOT HOLD'} (${evidence})`;
    return { kind: 'certificate', source: fault, text: cut(text) };
  }
  return { kind: type, source: 'client' in record ? record.client : 'runner', text: json(rest) };
}

const json = (value: unknown): string => cut(JSON.stringify(value));
const cut = (text: string): string =>
  text.length <= maxText ? text : `${text.slice(0, maxText)}… (${text.length - maxText} more)`;
const join = (...parts: readonly (string | undefined)[]): string =>
  parts.filter((part) => part !== undefined && part !== '').join(' ');
