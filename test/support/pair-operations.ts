/** Operations of records in memory, in time order. */
import type { HistoryRecord } from '../../lib/history/records.ts';
import { Pairing, type Operation } from '../../lib/history/reader.ts';

export function* pairOperations(records: Iterable<HistoryRecord>): Generator<Operation> {
  const ended: Operation[] = [];
  const pairing = new Pairing((operation) => ended.push(operation));
  for (const record of records) {
    pairing.record(record);
    yield* ended.splice(0);
  }
  yield* pairing.underWay();
}
