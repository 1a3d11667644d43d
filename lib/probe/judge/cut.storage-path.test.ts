/** Whether the storage path survived a cut, by made-up writers. */
import { expect, test } from 'vitest';
import { cutRecord, cutVolume, type CutKind } from '../../../test/support/cut-volume.ts';
import { type StoragePath, storagePathOf } from './cut.ts';
import { type CutRecord, type CutVolume, emptyJournal } from './record.ts';

/** The cut is at 100 s, somebody asks for the detach at 180 s, the heal is at 400 s. */
const recordOf = (kind: CutKind, more: Partial<CutVolume> = {}): CutRecord => ({
  ...cutRecord,
  volumes: [cutVolume({ goneMs: 182_000, ...kind }, more)],
});
const journal = { ...emptyJournal, gaps: 1 };
const attachments = [
  { uid: 'u', firstSeenMs: 80_000, unaskedMs: 165_000, deletingMs: 180_000, lastSeenMs: 180_000 },
];
const { cutMs: _, ...unseen } = recordOf({});

test.each<[StoragePath, string, CutRecord, string?]>([
  ['survived', 'it wrote to the heal', recordOf({})],
  ['survived', 'it wrote until its detach', recordOf({ lastMs: 180_100 })],
  ['cut', 'it wrote no more from the cut on', recordOf({ lastMs: 101_000 })],
  ['cut', 'it stopped before anybody asked', recordOf({ lastMs: 170_000 })],
  ['unknown', 'nobody looked while it stopped', recordOf({ lastMs: 170_000 }, { attachments })],
  ['unknown', 'its journal is not there', recordOf({}, { writerJournal: emptyJournal })],
  ['unknown', 'lines of it are missing', recordOf({}, { writerJournal: journal })],
  // As an OOM kill, or a write that never ends.
  ['unknown', 'it only falls silent', recordOf({ lastMs: 101_000, after: 'nothing' })],
  ['unknown', 'the class is not under the cut', recordOf({}), 'other'],
  ['unknown', 'nobody saw the cut', unseen],
])('%s: %s', (path, _, record, storageClass = 'fast') => {
  expect(storagePathOf(record, storageClass)).toBe(path);
});
