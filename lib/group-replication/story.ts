/** A group's run as its history tells it: what the verdict needs, picked out and typed. */
import { z } from 'zod';
import { EvidenceError } from '../errors.ts';
import type { ObservationRecord, RunRecord, SetupRecord } from '../history/events.ts';
import type { SmallRecord } from '../history/reader.ts';
import { groupObserved } from './observations.ts';
import { groupSettingsSchema, type GroupSettings } from './settings.ts';
import type { GroupView } from './views.ts';

const side = z.enum(['inside', 'outside']);
const heads = z.record(z.string(), z.number());

const readSchema = z.object({
  side,
  beganAtMs: z.number(),
  heads: heads.optional(),
  error: z.string().optional(),
});
const ledgerSchema = z.object({
  image: z.enum(['first', 'second']).optional(),
  takenAtMs: z.number(),
  rows: z.number().int().optional(),
  checksums: z.array(z.string()).optional(),
  beyond: z.string().optional(),
  error: z.string().optional(),
});

export type SeenView = GroupView & { readonly t: number };
export type SeenRead = z.output<typeof readSchema> & { readonly t: number; readonly node: string };
export type SeenLedger = z.output<typeof ledgerSchema> & { readonly node: string };

export interface GroupStory {
  readonly run: RunRecord;
  readonly setup: SetupRecord | undefined;
  readonly settings: GroupSettings;
  readonly records: readonly SmallRecord[];
  /** Whose node was broken; undefined where none was. */
  readonly victim: string | undefined;
  /** Milliseconds on the run's clock; undefined where it did not come to that. */
  readonly faultAtMs: number | undefined;
  readonly brokenAtMs: number | undefined;
  readonly healedAtMs: number | undefined;
  /** When the writers had stopped, or the history's end. */
  readonly endAtMs: number;
  readonly views: readonly SeenView[];
  readonly routes: readonly { readonly t: number; readonly node: string }[];
  readonly reads: readonly SeenRead[];
  readonly ledgers: readonly SeenLedger[];
}

/** Such a run names the group's settings right after itself. */
export function isGroupRun(records: Iterable<SmallRecord>): boolean {
  for (const record of records) {
    if (record.type === 'observation') return record.name === groupObserved.settings;
  }
  return false;
}

/** Throws EvidenceError where the history does not begin as a run's does. */
export function tellGroupStory(records: readonly SmallRecord[]): GroupStory {
  const run = records.find((record) => record.type === 'run');
  const seen = records.filter((record) => record.type === 'observation');
  const named = (name: string): ObservationRecord[] => seen.filter((each) => each.name === name);
  const settings = named(groupObserved.settings)[0];
  if (run === undefined || settings === undefined) {
    throw new EvidenceError('NOT_A_GROUP_RUN', 'the history is not of a run on a group');
  }
  const steps = records.filter((record) => record.type === 'action' && record.actor === 'fault');
  const step = (wanted: string): SmallRecord | undefined =>
    steps.find((record) => record.type === 'action' && record.step === wanted);
  const begun = step('begin');
  const audit = records.find((record) => record.type === 'phase' && record.phase === 'audit');
  return {
    run,
    setup: records.find((record) => record.type === 'setup'),
    settings: groupSettingsSchema.parse(settings.data),
    records,
    victim: begun?.type === 'action' ? begun.node : undefined,
    faultAtMs: begun?.t,
    brokenAtMs: step('done')?.t,
    healedAtMs: step('healed')?.t,
    endAtMs: audit?.t ?? records.at(-1)?.t ?? 0,
    views: named(groupObserved.view).flatMap(viewIn),
    routes: named(groupObserved.routed).map(({ t, node = '' }) => ({ t, node })),
    reads: named(groupObserved.read).map(({ t, node = '', data }) => ({
      ...readSchema.parse(data),
      t,
      node,
    })),
    ledgers: named(groupObserved.ledger).map(({ node = '', data }) => ({
      ...ledgerSchema.parse(data),
      node,
    })),
  };
}

/** A member that did not answer has no view. */
function viewIn({ t, data }: ObservationRecord): SeenView[] {
  return 'error' in data ? [] : [{ ...(data as unknown as GroupView), t }];
}
