/** What is not as the run listed it is named. What such a file is worth as evidence: test/evidence-mutants/kinds/files.ts. */
import { expect, test } from 'vitest';
import type { History } from '../../history/reader.ts';
import { tellsOf } from '../../history/migration.ts';
import type { SmallRecord } from '../../history/records.ts';
import { journalGaps } from './journals.ts';

const counts = { records: 5, small: 0, frames: 1, chain: 'a' };
const whole = { counts, end: counts };
const listed: SmallRecord = {
  ...{ type: 'segments', t: 9, wall: 9 },
  segments: { 'rows-first': counts },
  files: { 'writes.log.zst': { bytes: 7, sha256: 'f0' } },
};

type Files = History['files'];
const gapsIn = (
  segments: Readonly<Record<string, object>>,
  files: Files,
  { list = listed, schemaVersion = 4 as const } = {},
): string[] => {
  const seals = new Map(Object.entries(segments)) as unknown as History['seals'];
  const tells = tellsOf({ schemaVersion });
  return journalGaps({ records: [list], tells }, { seals, files }).map(({ words }) => words);
};
const segments = { run: whole, 'rows-first': whole };
const files: Files = { 'writes.log.zst': { bytes: 7, sha256: 'f0' } };
const putBack = 'put back the one that the run wrote, or run again';

test.each<[string, readonly string[], Parameters<typeof gapsIn>]>([
  ['as it was written', [], [segments, files]],
  [
    'a segment of another run',
    [
      `history segment rows-first holds 6 records (0 of them small) in 1 frames with chain a, and the run listed 5 records (0 of them small) in 1 frames with chain a: ${putBack}`,
    ],
    [
      {
        run: whole,
        'rows-first': { counts: { ...counts, records: 6 }, end: { ...counts, records: 6 } },
      },
      files,
    ],
  ],
  [
    'a segment without its end, and one too many',
    [
      'history segment reads was never ended: after its 5 records there may have been more',
      'history segment reads is not one that the run listed',
    ],
    [{ ...segments, reads: { counts } }, files],
  ],
  [
    'other bytes of a file',
    [
      `history file writes.log.zst holds 7 bytes with SHA-256 f1, and the run listed 7 bytes with SHA-256 f0: ${putBack}`,
    ],
    [segments, { 'writes.log.zst': { bytes: 7, sha256: 'f1' } }],
  ],
  [
    'a file that is gone, and one that the run did not list',
    [
      `history file writes.log.zst is missing: ${putBack}`,
      'history file writes.data.zst is not one that the run listed',
    ],
    [segments, { 'writes.data.zst': { bytes: 7, sha256: 'f0' } }],
  ],
])('%s', (_, gaps, asked) => {
  expect(gapsIn(...asked)).toEqual(gaps);
});

test('a list without hashes proves nothing of the files since version 4', () => {
  const list = { ...listed, files: { 'writes.log.zst': { bytes: 7 } } };
  expect(gapsIn(segments, files, { list })).toHaveLength(1);
  expect(gapsIn(segments, files, { list, schemaVersion: 3 as 4 })).toEqual([]);
});
