/** A file of a history that is not the one that its run listed is no evidence, and is named. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runRecord } from '../../../test/support/run-record.ts';
import { placeWrites } from '../../../test/support/writes.ts';
import type { Clock } from '../../core/time.ts';
import { tellsOf } from '../../history/migration.ts';
import { openHistory } from '../../history/reader.ts';
import { openRecorder } from '../../history/recorder.ts';
import type { RowRecord } from '../../history/records.ts';
import { journalGaps } from './journals.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'forcedetach-seals-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const at = (file: string, run = folder): string => join(run, 'history', file);

const clock: Clock = { nowMs: () => 1, wallMs: () => 2, sleep: () => Promise.resolve() };

/** A history with the rows of an image and a log of writes. */
function record(run: string, rows: number): void {
  const recorder = openRecorder(run, clock);
  recorder.record({ ...runRecord(), schemaVersion: 4 });
  const operation = { client: 'inside', connection: 0, session: 0, kind: 'append' } as const;
  const content = { fromAccount: 0, toAccount: 1, amount: 1, hashFits: true, linkFits: true };
  for (let seq = 0; seq < rows; seq += 1) {
    const row: RowRecord['row'] = { id: seq, seq, ...operation, ...content };
    recorder.record({ type: 'row', image: 'first', row });
  }
  placeWrites(run, { sizeBytes: 1 << 20, originNs: 0n, nodes: { 1: `node-${rows}` }, records: [] });
  recorder.list({});
  recorder.close();
}

interface Read {
  readonly rows: number;
  /** Whether the log of writes can be read. */
  readonly hasWrites: boolean;
  readonly gaps: readonly string[];
}

function readAgain(): Read {
  const history = openHistory(folder);
  const records = [...history.smallRecords()];
  const tells = tellsOf({ schemaVersion: 4 });
  let hasWrites = true;
  try {
    history.writes();
  } catch {
    hasWrites = false;
  }
  const gaps = journalGaps({ records, tells }, history).map(({ words }) => words);
  return { rows: [...history.rows('first')].length, hasWrites, gaps };
}

test('a history as it was written has no gap', () => {
  record(folder, 5);
  expect(readAgain()).toEqual({ rows: 5, hasWrites: true, gaps: [] });
});

test('the rows of another run are not read', () => {
  record(folder, 5);
  record(join(folder, 'other'), 6);
  copyFileSync(at('rows-first.hist', join(folder, 'other')), at('rows-first.hist'));
  const { rows, gaps } = readAgain();
  expect(rows).toBe(0);
  expect(gaps).toEqual([
    expect.stringMatching(/^history segment rows-first holds 6 records .*: put back the one/),
  ]);
});

test.each(['writes.log.zst', 'paths.json'])('one bit of %s makes the log no evidence', (file) => {
  record(folder, 5);
  const bytes = readFileSync(at(file));
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  writeFileSync(at(file), bytes);
  const { rows, hasWrites, gaps } = readAgain();
  expect({ rows, hasWrites }).toEqual({ rows: 5, hasWrites: false });
  expect(gaps).toEqual([
    expect.stringMatching(
      `^history file ${file} has the SHA-256 [0-9a-f]{64}, and the run listed [0-9a-f]{64}: put back`,
    ),
  ]);
});

test('a log of writes that is gone is named, and so is one that the run did not list', () => {
  record(folder, 5);
  const log = readFileSync(at('writes.log.zst'));
  rmSync(at('writes.log.zst'));
  expect(readAgain().gaps).toEqual([
    expect.stringContaining('history file writes.log.zst is missing'),
  ]);
  writeFileSync(at('writes.log.zst'), log);
  writeFileSync(at('writes.data.zst'), log);
  expect(readAgain()).toMatchObject({
    hasWrites: false,
    gaps: ['history file writes.data.zst is not one that the run listed'],
  });
});

test('a list of version 4 without hashes proves nothing of the files; one of version 3 has none', () => {
  record(folder, 5);
  const history = openHistory(folder);
  const records = [...history.smallRecords()].map((each) =>
    each.type === 'segments'
      ? {
          ...each,
          files: Object.fromEntries(
            Object.entries(each.files).map(([name, { bytes }]) => [name, { bytes }]),
          ),
        }
      : each,
  );
  const gapsIn = (schemaVersion: 3 | 4): string[] =>
    journalGaps({ records, tells: tellsOf({ schemaVersion }) }, history).map(({ words }) => words);
  expect(gapsIn(4)).toEqual(
    ['paths.json', 'writes.log.zst'].map(
      (file) =>
        expect.stringContaining(
          `history file ${file} has no hash in the list of the run`,
        ) as string,
    ),
  );
  expect(gapsIn(3)).toEqual([]);
});
