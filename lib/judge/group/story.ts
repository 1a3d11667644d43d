/** A group's run by its history: what the verdict needs, picked out and typed. */
import { z } from 'zod';
import type { JudgedDatabase } from '../database.ts';
import { EvidenceError } from '../../core/index.ts';
import type { ObservationRecord, SmallRecord, GroupView } from '../../history/index.ts';
import { tellStory, type Story } from '../timeline/story.ts';
import { groupObserved } from './observations.ts';
import { groupReplication, groupSettingsSchema, type GroupSettings } from '../../scenario/index.ts';

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

export type TimedView = GroupView & { readonly t: number };
export type LedgerRead = z.output<typeof readSchema> & {
  readonly t: number;
  readonly node: string;
};
type MemberLedger = z.output<typeof ledgerSchema> & { readonly node: string };

/** `endAtMs`: when the writers had stopped, or the history's end. */
export interface GroupStory extends Story {
  readonly settings: GroupSettings;
  /** Ms on the run's clock; undefined where it did not come to that. */
  readonly healedAtMs: number | undefined;
  readonly views: readonly TimedView[];
  readonly routes: readonly { readonly t: number; readonly node: string }[];
  readonly reads: readonly LedgerRead[];
  readonly ledgers: readonly MemberLedger[];
}

/** Its scenario says so; before scenarios did, the group's settings were named right after the run. */
export function isGroupRun(records: Iterable<SmallRecord>): boolean {
  for (const record of records) {
    if (record.type === 'run' && record.scenario.database === groupReplication.name) return true;
    if (record.type === 'observation') return record.name === groupObserved.settings;
  }
  return false;
}

/** Throws as `tellStory` does, and EvidenceError `NOT_A_GROUP_RUN`. */
export function tellGroupStory(
  records: readonly SmallRecord[],
  database: JudgedDatabase,
): GroupStory {
  const story = tellStory(records, database);
  const named = (name: string): ObservationRecord[] =>
    story.observations.filter((each) => each.name === name);
  const settings = named(groupObserved.settings)[0];
  if (settings === undefined) {
    throw new EvidenceError('NOT_A_GROUP_RUN', 'the history is not of a run on a group');
  }
  const healed = records.find(
    (each) => each.type === 'action' && each.actor === 'fault' && each.step === 'healed',
  );
  // Earlier versions read all members in the audit.
  const audit = records.find((record) => record.type === 'phase' && record.phase === 'audit');
  const secondImageAtMs = story.secondImageAtMs ?? audit?.t;
  return {
    ...story,
    secondImageAtMs,
    endAtMs: secondImageAtMs ?? story.endAtMs,
    settings: groupSettingsSchema.parse(settings.data),
    healedAtMs: healed?.t,
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
function viewIn({ t, data }: ObservationRecord): TimedView[] {
  return 'error' in data ? [] : [{ ...(data as unknown as GroupView), t }];
}
