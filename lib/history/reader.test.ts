import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { randomStream } from '../core/random.ts';
import type { NoteRecord, TimedRecord } from './records.ts';
import { openHistory } from './reader.ts';
import { historyDirectory } from './recorder.ts';
import { Segment } from './segment.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'forcedetach-reader-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const server = { node: 'worker', podUid: 'uid', startedAtS: 7 };

function observation(t: number, name = 'ünï\n'): NoteRecord {
  return { type: 'note', t, source: 'test', name, data: { text: 'ünï\n' } };
}

function write(name: string, records: readonly TimedRecord[], frameBytes = 300): void {
  const directory = historyDirectory(folder);
  const segment = new Segment({ directory, name, client: 'inside', frameBytes });
  for (const record of records) segment.append(record);
  segment.close();
}

const operation = fc.record({
  dt: fc.nat(5_000_000),
  connection: fc.nat(3),
  newSession: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  // One of two records, so that no number is above that of its record.
  skip: fc.nat(1),
  kind: fc.constantFrom('append' as const, 'transfer' as const),
  outcome: fc.constantFrom('ok' as const, 'ok' as const, 'fail' as const, 'info' as const),
  error: fc.string({ unit: 'grapheme', minLength: 1 }),
  client: fc.constantFrom('inside', 'inside', 'outside'),
});

test('any operations come back as they were recorded, over any frame boundaries', () => {
  fc.assert(
    fc.property(
      fc.array(operation, { maxLength: 60 }),
      fc.integer({ min: 1, max: 400 }),
      (drawn, frameBytes) => {
        rmSync(join(folder, 'history'), { recursive: true, force: true });
        let us = 0;
        const sessions = [0, 0, 0, 0];
        const seqs = [0, 0, 0, 0];
        const records = drawn.flatMap((each): TimedRecord[] => {
          const { connection, kind, outcome, error, client } = each;
          if (each.newSession) sessions[connection] = (sessions[connection] ?? 0) + 1;
          const seq = (seqs[connection] = (seqs[connection] ?? 0) + each.skip);
          const id = { client, connection, session: sessions[connection] ?? 0, seq };
          const invoke = { type: 'invoke', t: (us += each.dt) / 1000, ...id, kind } as const;
          const end = { type: 'outcome', t: (us += each.dt) / 1000, ...id, outcome } as const;
          return [invoke, outcome === 'ok' ? end : { ...end, error }];
        });
        write('writer', records, frameBytes);
        expect([...openHistory(folder).records()]).toEqual(records);
      },
    ),
    { numRuns: 60 },
  );
});

test('segments are merged in time order, late records at the time they name', () => {
  write(
    'a',
    [1, 4, 9, 30, 12, 13, 14].map((t) => observation(t, 'a')),
  );
  write(
    'b',
    [2, 3, 10, 11, 31, 0.5].map((t) => observation(t, 'b')),
  );
  const times = [...openHistory(folder).records()].map(({ t }) => t);
  expect(times).toEqual([0.5, 1, 2, 3, 4, 9, 10, 11, 12, 13, 14, 30, 31]);
});

test('operations are paired with their outcome and the server that was asked', () => {
  const id = { client: 'inside', connection: 1, session: 2 };
  write('writer', [
    { type: 'session', t: 0, wall: 1, client: 'inside', connection: 1, session: 1, error: 'DOWN' },
    { type: 'session', t: 1, wall: 2, ...id, server },
    { type: 'invoke', t: 2, ...id, seq: 0, kind: 'append' },
    { type: 'outcome', t: 3, ...id, seq: 0, outcome: 'ok' },
    { type: 'invoke', t: 4, ...id, seq: 1, kind: 'transfer' },
    { type: 'outcome', t: 5, ...id, seq: 1, outcome: 'fail', error: 'no' },
    { type: 'invoke', t: 6, ...id, seq: 2, kind: 'append' },
  ]);
  expect([...openHistory(folder).ops()]).toEqual([
    { ...id, seq: 0, kind: 'append', sentAtMs: 2, outcome: 'ok', endedAtMs: 3, server },
    {
      ...id,
      seq: 1,
      kind: 'transfer',
      sentAtMs: 4,
      outcome: 'fail',
      endedAtMs: 5,
      error: 'no',
      server,
    },
    // The history ends before its outcome: nobody knows.
    { ...id, seq: 2, kind: 'append', sentAtMs: 6, outcome: 'info', server },
  ]);
});

test('a million operations take less than 30 MB', () => {
  const random = randomStream('size');
  const operations = 50_000;
  const directory = historyDirectory(folder);
  const segment = new Segment({ directory, name: 'writer', client: 'inside' });
  const seqs = Array.from({ length: 32 }, () => 0);
  let t = 0;
  for (let n = 0; n < operations; n++) {
    // The connections answer in no order, as a busy server's do.
    const connection = random.int(0, 31);
    const seq = (seqs[connection] = (seqs[connection] ?? 0) + 1);
    const id = { client: 'inside', connection, session: 0, seq };
    const kind = seq % 8 === 0 ? 'transfer' : 'append';
    segment.append({ type: 'invoke', t: (t += random.float()), ...id, kind });
    segment.append({ type: 'outcome', t: (t += random.float()), ...id, outcome: 'ok' });
  }
  segment.close();
  const bytes = readdirSync(directory).reduce(
    (sum, file) => sum + statSync(join(directory, file)).size,
    0,
  );
  expect((bytes / operations) * 1e6).toBeLessThan(30e6);
  expect([...openHistory(folder).ops()].length).toBe(operations);
});
