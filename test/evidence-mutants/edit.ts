/** How records are altered: each returns an alteration of a whole run. */
import type { HistoryRecord } from '../../lib/history/records.ts';
import type { HeldRun, TimedRecord } from './held-run.ts';

export type Alteration = (run: HeldRun) => void;
type Fits = (record: TimedRecord, run: HeldRun) => boolean;

/** Each record becomes these; rows are left alone. */
function mapRecords(run: HeldRun, change: (record: TimedRecord) => readonly TimedRecord[]): void {
  for (const segment of run.segments.values()) {
    segment.records = segment.records.flatMap((record): readonly HistoryRecord[] =>
      record.type === 'row' ? [record] : change(record),
    );
  }
}

export const drop =
  (fits: Fits): Alteration =>
  (run) =>
    mapRecords(run, (record) => (fits(record, run) ? [] : [record]));

export const change =
  (fits: Fits, become: (record: never, run: HeldRun) => object): Alteration =>
  (run) =>
    mapRecords(run, (record) => [
      fits(record, run) ? (become(record as never, run) as TimedRecord) : record,
    ]);

export const add =
  (records: (run: HeldRun) => readonly TimedRecord[]): Alteration =>
  (run) => {
    const own = run.segments.get('run');
    if (own !== undefined) own.records = [...own.records, ...records(run)];
  };

export const both =
  (...all: readonly Alteration[]): Alteration =>
  (run) => {
    for (const alter of all) alter(run);
  };

export const faultAt = ({ story }: HeldRun): number => story.faultAtMs ?? 0;
export const healAt = ({ story }: HeldRun): number => story.healAtMs;
export const ofType =
  (type: TimedRecord['type']): Fits =>
  (record) =>
    record.type === type;

export const from =
  (...sources: readonly string[]): Fits =>
  (record) =>
    record.type === 'observation' && sources.includes(record.source);

/** All of them. */
export const and =
  (...all: readonly Fits[]): Fits =>
  (record, run) =>
    all.every((fits) => fits(record, run));

export const sinceFault: Fits = (record, run) => record.t >= faultAt(run);
