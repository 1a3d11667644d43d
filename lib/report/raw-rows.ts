/** Records as table rows, operations left out, capped; and which row proves a licence step. */
import type { HistoryRecord } from '../history/events.ts';
import { observed } from '../history/observations.ts';
import type { RawRow } from './types.ts';

const maxRows = 3000;
const maxText = 600;
/** A licence step names its moment to the millisecond; rounding may be off by one. */
const matchWithinS = 0.002;

/** Many, and drawn elsewhere. */
const counters = new Set<string>([observed.deviceWritten, observed.requestsHeld]);

type Draft = Omit<RawRow, 'atS'> & { readonly t: number };

export class RawRows {
  readonly #drafts: Draft[] = [];
  #number = 0;
  #more = 0;

  see(record: HistoryRecord): void {
    const id = this.#number;
    this.#number += 1;
    if (record.type === 'invoke' || record.type === 'outcome' || record.type === 'row') return;
    if (record.type === 'machine' || record.type === 'read') return;
    if (record.type === 'observation' && counters.has(record.name)) return;
    if (this.#drafts.length >= maxRows) {
      this.#more += 1;
      return;
    }
    this.#drafts.push({ id, t: record.t, ...describe(record) });
  }

  result(zeroMs: number): { readonly rows: RawRow[]; readonly more: number } {
    const rows = this.#drafts.map(({ t, ...row }) => ({
      ...row,
      atS: Math.round(t - zeroMs) / 1000,
    }));
    return { rows, more: this.#more };
  }
}

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

type Told = Exclude<HistoryRecord, { type: Hidden }>;
type Hidden = 'invoke' | 'outcome' | 'row' | 'machine' | 'read';

function describe(record: Told): Pick<RawRow, 'kind' | 'source' | 'text'> {
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
