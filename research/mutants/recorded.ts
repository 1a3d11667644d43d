/**
 * Mutants and twins as they were recorded, one JSON line each, compressed together: so that what
 * the checkers say of them can be asked again at no cost.
 */
import { fileURLToPath } from 'node:url';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { JournaledOp } from '../../lib/judge/index.ts';
import type { LedgerRow } from '../../lib/history/index.ts';
import type { MutantCase } from './mutant-case.ts';

/** What the suite recorded last (research/mutants/records.ts). */
export const evidencePath: string = fileURLToPath(new URL('evidence.jsonl.zst', import.meta.url));

/** Operations by column: client, connection, session, seq, outcome, end (null: never), node. */
type OpColumns = readonly (readonly (string | number | null)[])[];

/** Rows by column, in the order of `rowFields`. */
type RowColumns = readonly (readonly (string | number | boolean)[])[];

const rowFields = [
  ...['id', 'client', 'connection', 'session', 'seq', 'kind'],
  ...['fromAccount', 'toAccount', 'amount', 'hashFits', 'linkFits'],
] as const;

interface CaseLine extends Omit<MutantCase, 'ops' | 'copies'> {
  readonly ops: OpColumns;
  readonly copies: readonly (Omit<MutantCase['copies'][number], 'rows'> & {
    readonly rows: RowColumns;
  })[];
}

/** Cases share most of their rows: matches are looked for in all that came before. */
const packing = {
  params: {
    [constants.ZSTD_c_compressionLevel]: 19,
    [constants.ZSTD_c_enableLongDistanceMatching]: 1,
    [constants.ZSTD_c_windowLog]: 27,
  },
};

export function packCases(cases: readonly MutantCase[]): Buffer {
  const lines = cases.map((each): CaseLine => {
    const copies = each.copies.map(({ rows, ...copy }) => ({ ...copy, rows: rowColumns(rows) }));
    return { ...each, ops: opColumns(each.ops), copies };
  });
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  return zstdCompressSync(Buffer.from(text), packing);
}

export function unpackCases(packed: Buffer): MutantCase[] {
  const text = zstdDecompressSync(packed).toString();
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const { ops, copies, ...about } = JSON.parse(line) as CaseLine;
      return {
        ...about,
        ops: opsOf(ops),
        copies: copies.map(({ rows, ...copy }) => ({ ...copy, rows: rowsOf(rows) })),
      };
    });
}

const opColumns = (ops: readonly JournaledOp[]): OpColumns => [
  ops.map(({ client }) => client),
  ops.map(({ connection }) => connection),
  ops.map(({ session }) => session),
  ops.map(({ seq }) => seq),
  ops.map(({ outcome }) => outcome),
  ops.map(({ endedAtMs = null }) => endedAtMs),
  ops.map(({ server }) => server?.node ?? null),
];

function opsOf([clients = [], ...columns]: OpColumns): JournaledOp[] {
  const [connections = [], sessions = [], seqs = [], outcomes = [], ends = [], nodes = []] =
    columns;
  return clients.map((client, n) => {
    const endedAtMs = ends[n];
    const node = nodes[n];
    return {
      client: String(client),
      connection: Number(connections[n]),
      session: Number(sessions[n]),
      seq: Number(seqs[n]),
      outcome: String(outcomes[n]) as JournaledOp['outcome'],
      ...(typeof endedAtMs === 'number' ? { endedAtMs } : {}),
      ...(typeof node === 'string' ? { server: { node } } : {}),
    };
  });
}

const rowColumns = (rows: readonly LedgerRow[]): RowColumns =>
  rowFields.map((field) => rows.map((row) => row[field]));

const rowsOf = (columns: RowColumns): LedgerRow[] =>
  (columns[0] ?? []).map((_, n) => {
    const values = rowFields.map((field, column) => [field, columns[column]?.[n]]);
    return Object.fromEntries(values) as LedgerRow;
  });
