/** A group's run by its history: what the verdict needs, picked out and typed. */
import type { JudgedDatabase } from '../database.ts';
import { EvidenceError } from '../../core/index.ts';
import {
  observationsOf,
  observed,
  type GroupView,
  type Observation,
  type ObservedName,
  type SmallRecord,
} from '../../history/index.ts';
import { tellStory, type Story } from '../timeline/story.ts';
import { groupReplication, type GroupSettings } from '../../scenario/index.ts';

export type TimedView = GroupView & { readonly t: number };
export type LedgerRead = Observation<'read'>['data'] & {
  readonly t: number;
  readonly node: string;
};
type MemberLedger = Observation<'ledger-read'>['data'] & { readonly node: string };

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
    if (record.type === 'run' && record.scenario.database.kind === groupReplication.name)
      return true;
    if (record.type === 'observation') return record.name === observed.groupSettings;
  }
  return false;
}

/** Throws as `tellStory` does, and EvidenceError `NOT_A_GROUP_RUN`. */
export function tellGroupStory(
  records: readonly SmallRecord[],
  database: JudgedDatabase,
): GroupStory {
  const story = tellStory(records, database);
  const of = <Name extends ObservedName>(name: Name): Observation<Name>[] =>
    observationsOf(story.observations, name);
  const settings = of(observed.groupSettings)[0];
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
    settings: settings.data,
    healedAtMs: healed?.t,
    views: of(observed.memberView).flatMap(({ t, data }) =>
      // A member that did not answer has no view.
      data.error === undefined ? [{ ...(data as GroupView), t }] : [],
    ),
    routes: of(observed.routed).map(({ t, node = '' }) => ({ t, node })),
    reads: of(observed.ledgerAnswer).map(({ t, node = '', data }) => ({ ...data, t, node })),
    ledgers: of(observed.ledgerRead).map(({ node = '', data }) => ({ ...data, node })),
  };
}
