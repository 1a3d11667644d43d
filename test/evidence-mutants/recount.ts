/** A client that was blind or silent and beats: its beats tell of the records that are left. */
import type { Alteration } from './edit.ts';

export const recounted =
  (alter: Alteration): Alteration =>
  (run) => {
    alter(run);
    for (const segment of run.segments.values()) {
      const done = new Map<string, number>();
      segment.records = segment.records.map((record) => {
        if (record.type !== 'client-beat') {
          done.set(record.type, (done.get(record.type) ?? 0) + 1);
          return record;
        }
        const left = Object.keys(record.done).map((type) => [
          type,
          type === 'refused' ? record.done[type] : (done.get(type) ?? 0),
        ]);
        return { ...record, done: Object.fromEntries(left) as Record<string, number> };
      });
    }
  };
