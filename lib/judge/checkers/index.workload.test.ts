import { describe, expect, test } from 'vitest';
import { runRecord } from '../../../test/support/run-record.ts';
import {
  sessionKey,
  firstDocuments,
  type OpOutcome,
  workloadTables,
} from '../../history/workload.ts';
import type { SchemaChangeRecord } from '../../history/records.ts';
import {
  endOfMs,
  exampleLedger,
  exampleSeed,
  healthyEvidence,
  rowsOf,
} from '../../../test/support/example-ledger.ts';
import { judgeImages } from './index.ts';
import { mysql } from '../../mysql/database.ts';
import type { BinlogFound, MysqlImage } from '../../mysql/evidence.ts';

const takenAtMs = 10_000;
const id = { client: 'inside', connection: 0, session: 0 };
const key = sessionKey(id);
const length = 12;

type Script = Record<number, { readonly outcome?: OpOutcome; readonly stored?: boolean }>;

const first = Object.fromEntries(
  firstDocuments.map((each) => [sessionKey(each), firstDocuments.map(({ seq }) => seq)]),
);
const wholeLog: BinlogFound = {
  ...{ files: ['binlog.000001'], bytes: 1, transactions: length, duplicateGtids: 0 },
  ...{ gtids: 'server-1:1-12', executed: 'server-1:1-12', purged: '', differing: [], damage: [] },
  rows: { [key]: [[0, length - 1]] },
};
const sound: Partial<MysqlImage> = {
  documents: { found: { ...first, [key]: [4] }, torn: [] },
  schema: { state: 'original', oddities: [] },
  login: {},
  binlog: wholeLog,
};

interface Scene {
  readonly changed?: Partial<MysqlImage>;
  readonly script?: Script;
  readonly changes?: readonly SchemaChangeRecord[];
  readonly version?: 2 | 3;
  readonly trxCommit?: 1 | 2;
  /** When the image was taken. */
  readonly atMs?: number;
}

/** One session of 12 operations, all acknowledged and stored but for what `script` says. */
function judged({
  changed = {},
  script = {},
  changes = [],
  version = 3,
  ...scene
}: Scene): string[] {
  const { trxCommit = 1, atMs = takenAtMs } = scene;
  const ops = Array.from({ length }, (_, seq) => ({
    ...{ outcome: 'ok' as const, stored: true },
    ...script[seq],
  }));
  const ledger = exampleLedger([{ ...id, node: 'a', ops }]);
  const rows = rowsOf(ledger.entries);
  const isChanged = changed.schema?.state === 'changed';
  const healthy = healthyEvidence(rows, workloadTables, isChanged);
  const evidence: MysqlImage = { ...healthy, ...sound, ...changed };
  const run = {
    ...runRecord({ database: { trxCommit } }),
    seed: exampleSeed,
    schemaVersion: version,
  };
  const image = { type: 'image', t: 1, image: 'first', takenAtMs: atMs, evidence } as const;
  const { findings } = judgeImages(
    {
      smallRecords: () => [run, ...changes, image],
      visitOps: (visit) => ledger.ops.forEach(visit),
      rows: () => rows,
    },
    {},
    { database: mysql },
  );
  return findings.map(({ code }) => code);
}

/** All but one. */
const logWithout = (seq: number): BinlogFound['rows'] => ({
  [key]: [
    [0, seq - 1],
    [seq + 1, length - 1],
  ],
});
const found = (seqs: readonly number[]): Partial<MysqlImage> => ({
  documents: { found: { ...first, [key]: seqs }, torn: [] },
});

test('nothing is said of a sound image, nor before version 3 of a part that was not read', () => {
  expect(judged({})).toEqual([]);
  for (const part of ['documents', 'schema', 'login', 'binlog'] as const) {
    expect(judged({ changed: { [part]: undefined }, version: 2 })).toEqual([]);
  }
});

describe('documents', () => {
  test.each<[string, Scene, string[]]>([
    ['a deleted one is there, and its deletion’s row', { changed: found([2, 4]) }, ['DELETE_HALF']],
    ['one is gone', { changed: found([]) }, ['DOCUMENT_MISSING']],
    [
      'one of the schema is gone',
      { changed: { documents: { found: { [key]: [4] }, torn: [] } } },
      ['DOCUMENT_MISSING'],
    ],
    ['one that nobody sent', { changed: found([4, 3]) }, ['DOCUMENT_PHANTOM']],
    [
      'other bytes',
      {
        changed: {
          documents: {
            found: { ...first, [key]: [4] },
            torn: [{ document: { ...id, seq: 4 }, how: 'x' }],
          },
        },
      },
      ['DOCUMENT_TORN'],
    ],
  ])('%s', (_, scene, codes) => expect(judged(scene)).toEqual(codes));

  test('an acknowledged deletion is undone where its row is gone too', () => {
    const script: Script = { 6: { stored: false } };
    const changed = { ...found([2, 4]), binlog: { ...wholeLog, rows: logWithout(6) } };
    expect(judged({ script, changed })).toEqual(['LEDGER_LOST', 'DELETE_UNDONE']);
  });

  test('of an unknown deletion either is right, as its row says', () => {
    const absent: Script = { 6: { outcome: 'info', stored: false } };
    const without = { ...wholeLog, rows: logWithout(6) };
    expect(judged({ script: absent, changed: { ...found([2, 4]), binlog: without } })).toEqual([]);
    expect(judged({ script: absent, changed: { ...found([4]), binlog: without } })).toEqual([
      'DOCUMENT_MISSING',
    ]);
    // What came after it was refused: a session ends with an unknown outcome.
    const refused = { outcome: 'fail', stored: false } as const;
    const ending = Object.fromEntries([7, 8, 9, 10, 11].map((seq) => [seq, refused]));
    const present: Script = { 6: { outcome: 'info' }, ...ending };
    const binlog: BinlogFound = { ...wholeLog, rows: { [key]: [[0, 6]] } };
    expect(judged({ script: present, changed: { ...found([4]), binlog } })).toEqual([]);
    expect(judged({ script: present, changed: { ...found([2, 4]), binlog } })).toEqual([
      'DELETE_HALF',
    ]);
  });
});

/** Operation n is acknowledged 10 ms after operation n - 1. */
test('what trx_commit 2 had not synced yet may be in the binary log alone', () => {
  const last = endOfMs(length - 1);
  const script: Script = { [length - 1]: { stored: false } };
  expect(judged({ script, atMs: last - 1 })).toEqual(['BINLOG_ROW_MISSING']);
  expect(judged({ script, atMs: last - 1, trxCommit: 2 })).toEqual([]);
  expect(judged({ script, atMs: last, trxCommit: 2 })).toEqual([
    'LEDGER_LOST',
    'BINLOG_ROW_MISSING',
  ]);
});

describe('the change of the schema', () => {
  const about = { type: 'schema-change', client: 'inside' } as const;
  const sent: SchemaChangeRecord = { ...about, t: 100, step: 'sent' };
  const acked: SchemaChangeRecord = { ...about, t: 200, step: 'ended', outcome: 'ok' };
  const refused: SchemaChangeRecord = { ...about, t: 200, step: 'ended', outcome: 'fail' };
  const unknown: SchemaChangeRecord = { ...about, t: 200, step: 'ended', outcome: 'info' };
  const state = (is: 'original' | 'changed' | 'other'): Scene => ({
    changed: { schema: { state: is, oddities: ['account: …'] } },
  });
  test.each<[string, Scene, readonly SchemaChangeRecord[], string[]]>([
    ['acknowledged and there', state('changed'), [sent, acked], []],
    ['acknowledged and gone', state('original'), [sent, acked], ['SCHEMA_CHANGE_LOST']],
    ['unknown and there', state('changed'), [sent, unknown], []],
    ['unknown and not there', state('original'), [sent, unknown], []],
    ['by halves', state('other'), [sent, unknown], ['SCHEMA_HALF_CHANGED']],
    ['refused and there', state('changed'), [sent, refused], ['SCHEMA_CHANGE_REFUSED']],
    ['there and never sent', state('changed'), [], ['SCHEMA_CHANGE_UNJOURNALED']],
    [
      'there before it was sent',
      state('changed'),
      [{ ...sent, t: 20_000 }],
      ['SCHEMA_CHANGE_UNJOURNALED'],
    ],
  ])('%s', (_, scene, changes, codes) => expect(judged({ ...scene, changes })).toEqual(codes));
});

test.each([
  [{ refused: 'ER_ACCESS_DENIED_ERROR' }, 'LOGIN_REFUSED'],
  [{ refused: 'ER_ACCOUNT_HAS_BEEN_LOCKED: Access denied for user.' }, 'LOGIN_REFUSED'],
  [{ unlimited: 'mysql.user' }, 'LOGIN_UNLIMITED'],
  [{ refused: 'ER_OUTOFMEMORY: Out of memory; restart server' }, 'AUDIT_MACHINE_TROUBLE'],
])('a login that is %j is %s', (login, code) => {
  expect(judged({ changed: { login } })).toEqual([code]);
});

describe('the binary log', () => {
  const log = (changed: Partial<BinlogFound>): Scene => ({
    changed: { binlog: { ...wholeLog, ...changed } },
  });
  test.each<[string, Scene, string[]]>([
    ['lacks a commit', log({ rows: logWithout(5) }), ['BINLOG_TRANSACTION_MISSING']],
    ['has other values', log({ differing: [key] }), ['BINLOG_DIFFERS']],
    ['is not whole', log({ damage: ['binlog.000001: …'] }), ['BINLOG_DAMAGED']],
    [
      'has a gap',
      log({ gtids: 'server-1:1-5:7-12', executed: 'server-1:1-5:7-12', transactions: 11 }),
      ['GTID_GAP'],
    ],
    [
      'has less than the server knows',
      log({ gtids: 'server-1:1-11', transactions: 11 }),
      ['GTID_GAP'],
    ],
    ['has a number twice', log({ duplicateGtids: 1, transactions: 13 }), ['GTID_GAP']],
    [
      'begins behind what was purged',
      log({ gtids: 'server-1:5-12', purged: 'server-1:1-4', transactions: 8 }),
      [],
    ],
    ['has no GTIDs', log({ gtids: '', executed: '' }), ['AUDIT_CONTRADICTS']],
  ])('%s', (_, scene, codes) => expect(judged(scene)).toEqual(codes));

  test('has what the tables lost', () => {
    const script: Script = { 11: { stored: false } };
    expect(judged({ script })).toEqual(['LEDGER_LOST', 'BINLOG_ROW_MISSING']);
  });
});
