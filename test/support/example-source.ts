/** Records in memory as what a report is made from; for tests of the report only. */
import type { HistoryRecord } from '../../lib/history/records.ts';
import { pairOperations } from './pair-operations.ts';
import { exampleHistory } from './example-history.ts';
import type { ReportSource } from '../../lib/report/report-data.ts';

/** `records` in time order. */
export const sourceOf = (records: readonly HistoryRecord[]): ReportSource => ({
  *smallRecords() {
    for (const record of records) {
      const { type } = record;
      if (type !== 'invoke' && type !== 'outcome' && type !== 'row') yield record;
    }
  },
  ops: () => pairOperations(records),
});

export const exampleSource = sourceOf(exampleHistory());
