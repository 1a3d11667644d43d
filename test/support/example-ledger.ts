/** Small ledgers and evidence for the checkers' own tests: healthy ones, to be damaged by a test. */
import {
  Chain,
  initialBalance,
  sessionKey,
  type LedgerEntry,
  type OpOutcome,
  type SessionId,
} from '../../lib/history/workload.ts';
import type { ImageEvidence, LedgerRow, ServerStart } from '../../lib/history/evidence.ts';
import { tablespacesOf } from '../../lib/mysql/checks.ts';
import { indexesMade } from '../../lib/mysql/tables.ts';
import type { MysqlEvidence } from '../../lib/mysql/evidence.ts';
import type { JournaledOp } from '../../lib/judge/checkers/journal.ts';

export const exampleSeed = 'example';

export interface SessionScript extends SessionId {
  readonly node: string;
  /** By seq: how each operation ended, and whether its row is in the ledger. */
  readonly ops: readonly { readonly outcome: OpOutcome; readonly stored: boolean }[];
}

export interface ExampleLedger {
  readonly ops: JournaledOp[];
  /** In primary key order; sessions take turns. */
  readonly entries: LedgerEntry[];
}

/** Operation `seq` of every session ends at `seq` + 1 ms times ten. */
export const endOfMs = (seq: number): number => (seq + 1) * 10;

export function exampleLedger(sessions: readonly SessionScript[]): ExampleLedger {
  const ops: JournaledOp[] = [];
  const stored: { readonly seq: number; readonly entry: LedgerEntry }[] = [];
  for (const { client, connection, session, node, ops: script } of sessions) {
    const id = { client, connection, session };
    const chain = new Chain(exampleSeed, id);
    for (const { outcome, stored: isStored } of script) {
      const entry = chain.next();
      const { seq } = entry;
      ops.push({ ...id, seq, outcome, endedAtMs: endOfMs(seq), server: { node } });
      if (outcome === 'ok') chain.acknowledge(entry);
      if (isStored) stored.push({ seq, entry });
    }
  }
  const entries = stored.toSorted((a, b) => a.seq - b.seq).map(({ entry }) => entry);
  return { ops, entries };
}

/** Rows as an audit reads them from entries in this order, with new ids. */
export function rowsOf(entries: readonly LedgerEntry[]): LedgerRow[] {
  const heads = new Map<string, string>();
  return entries.map((entry, index) => {
    const { previousHash, hash, ...operation } = entry;
    const key = sessionKey(entry);
    const head = heads.get(key) ?? originOf(entry);
    heads.set(key, hash);
    return { id: index + 1, ...operation, hashFits: true, linkFits: previousHash === head };
  });
}

const originOf = (id: SessionId): string => new Chain(exampleSeed, id).next().previousHash;

export function balancesOf(rows: readonly LedgerRow[]): Record<number, number> {
  const balances: Record<number, number> = {};
  const move = (account: number, amount: number): void => {
    balances[account] = (balances[account] ?? initialBalance) + amount;
  };
  for (const { fromAccount, toAccount, amount } of rows) {
    move(fromAccount, -amount);
    move(toAccount, amount);
  }
  return balances;
}

const healthyStart = (purpose: ServerStart['purpose']): ServerStart => ({
  purpose,
  ready: true,
  durationMs: 900,
  errorLines: [],
});

export function healthyEvidence(
  rows: readonly LedgerRow[],
  tables: readonly string[] = ['ledger', 'account'],
  isSchemaChanged = false,
): ImageEvidence & MysqlEvidence {
  const command = { command: 'e2fsck -fn copy', exitCode: 0, output: '', durationMs: 10 };
  const balances = balancesOf(rows);
  const read = { ledger: rows.length, account: Object.keys(balances).length };
  return {
    fsckReplay: { ...command, output: 'recovering journal' },
    fsck: { ...command, output: 'Inode 12 extent tree could be narrower. Fix? no' },
    mounted: true,
    dataDirectoryEmpty: false,
    starts: [healthyStart('recovery'), healthyStart('cold'), healthyStart('check')],
    ledgerComplete: true,
    ledgerRows: rows.length,
    balances,
    indexCounts: indexesMade(isSchemaChanged).map(({ table, index }) => {
      const count = table === 'ledger' ? read.ledger : read.account;
      return { table, index, byPrimary: count, byIndex: count, valuesAgree: true };
    }),
    tables: tables.map((table) => ({
      ...{ table, check: 'OK', checksum: '1', checksumAfterRestart: '1' },
    })),
    innochecksum: tablespacesOf(tables).map((file) => ({
      ...{ ...command, command: `innochecksum /mnt/data/${file}` },
    })),
    canaries: {},
    failures: [],
    filesystemUuid: 'file-system-1',
    serverUuid: 'server-1',
  };
}
