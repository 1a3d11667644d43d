/** Records as table rows, operations left out; and which row proves a licence step. */
import { type SmallRecord, observed } from '../history/index.ts';

/** A record as a table row; its `id` is its number among those that are no operations. */
export interface RawRow {
  readonly id: number;
  readonly atS: number;
  readonly kind: string;
  readonly source: string;
  readonly text: string;
  /** The page has it without JavaScript, too. */
  readonly isKey: boolean;
}

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

export function rawRows(
  records: readonly SmallRecord[],
  zeroMs: number,
): { readonly rows: RawRow[]; readonly more: number } {
  const rows = records.slice(0, maxRows).map((record, id) => ({
    ...{ id, isKey: isKey(record), ...describe(record) },
    atS: Math.round(record.t - zeroMs) / 1000,
  }));
  return { rows, more: records.length - rows.length };
}

const isKey = (record: SmallRecord): boolean =>
  record.type === 'observation'
    ? telling.has(record.name)
    : ['phase', 'action', 'certificate', 'error', 'setup', 'run'].includes(record.type);

/** The row nearest in time, of that source where one is near enough. */
export function proofOf(
  rows: readonly RawRow[],
  step: { readonly atS: number; readonly source: string; readonly evidence?: string },
): number | null {
  const near = rows.filter((row) => Math.abs(row.atS - step.atS) <= matchWithinS);
  const named = near.filter((each) => each.source === step.source);
  const row =
    named.find((each) => step.evidence?.startsWith(`${each.kind} `)) ?? named[0] ?? near[0];
  return row?.id ?? null;
}

function describe(record: SmallRecord): Pick<RawRow, 'kind' | 'source' | 'text'> {
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
