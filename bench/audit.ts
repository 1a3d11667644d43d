/**
 * The audit of millions of acknowledged commits (journal against table, chain, balances, indexes)
 * beside what MySQL itself offers and a plain stream of the same rows, in turns on one server.
 * Needs root, docker and the tools image; no cluster. `--rows n,n`: other sizes.
 */
import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createConnection } from 'mysql2';
import { EvidenceError } from '../lib/core/errors.ts';
import { smallHeap } from '../lib/kind/disk/containers.ts';
import { BareHost } from '../test/cluster/bare-host.ts';
import type { AuditRun } from './support/audit-judge.ts';
import { type BenchContext, type BenchResult, median } from './support/bench.ts';
import { type LedgerVolume, ledgerVolume, seed } from './support/ledger-volume.ts';

const defaultRows = [1_000_000, 10_000_000];
const rounds = 5;
/** Times CHECKSUM TABLE, at the first size. */
const targetRatio = 3.5;
const targetRssMiB = 300;
/** Time of one row at the last size, of its time at the first: more is not linear. */
const targetGrowth = 1.25;

/** As in the lab, what was compiled is kept. */
const env = { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'forcedetach-compiled') };

const readers = ['checksumTable', 'checkTableExtended', 'plainStream', 'audit'] as const;
type Reader = (typeof readers)[number];
type Times = Record<Reader, number>;

interface Round extends Readonly<Times> {
  /** What the audit said of itself. */
  readonly run: AuditRun | undefined;
}

interface Size {
  readonly rows: number;
  /** Medians, ms. */
  readonly medianMs: Times;
  /** Median of the ratios within a round: a busy machine slows all. */
  readonly ratioToChecksumTable: number;
  readonly peakRssMiB: number;
  readonly rounds: readonly Round[];
}

export default async function bench({
  onProgress,
  rows: asked,
}: BenchContext): Promise<BenchResult> {
  await using host = await BareHost.start(onProgress);
  const sizes: Size[] = [];
  for (const rows of asked ?? defaultRows) {
    onProgress(`writing ${rows} rows`);
    await using volume = await ledgerVolume(host, rows);
    sizes.push(await measure(host, volume, rows, onProgress));
  }
  const ratioToChecksumTable = sizes[0]?.ratioToChecksumTable ?? Number.NaN;
  const peakRssMiB = Math.max(...sizes.map((size) => size.peakRssMiB));
  const growth = perRow(sizes.at(-1)) / perRow(sizes[0]);
  const ok =
    ratioToChecksumTable <= targetRatio && peakRssMiB <= targetRssMiB && growth <= targetGrowth;
  const targets = { targetRatio, targetRssMiB, targetGrowth };
  const data = { ratioToChecksumTable, peakRssMiB, growth, ...targets, sizes };
  return { ok, data, lines: sizes.map(describe) };
}

/** One after the other, never at once; who begins changes from round to round. */
async function measure(
  host: BareHost,
  volume: LedgerVolume,
  rows: number,
  onProgress: BenchContext['onProgress'],
): Promise<Size> {
  const { socketPath } = volume.server;
  let peakRssMiB = 0;
  let run: AuditRun | undefined;
  const ways: Record<Reader, () => Promise<void>> = {
    checksumTable: () => ask(socketPath, 'CHECKSUM TABLE forcedetach.ledger'),
    checkTableExtended: () => ask(socketPath, 'CHECK TABLE forcedetach.ledger EXTENDED'),
    plainStream: () => ask(socketPath, 'SELECT * FROM forcedetach.ledger'),
    audit: async () => {
      run = await audit(host, volume);
      mustFindOneLost(run, rows);
      peakRssMiB = Math.max(peakRssMiB, run.rssMiB.audit + run.rssMiB.lab);
    },
  };
  const measured: Round[] = [];
  for (let round = 0; round < rounds; round++) {
    const times: Times = { checksumTable: 0, checkTableExtended: 0, plainStream: 0, audit: 0 };
    for (const n of readers.keys()) {
      const reader = readers[(n + round) % readers.length] ?? 'audit';
      const startedMs = performance.now();
      await ways[reader]();
      times[reader] = Math.round(performance.now() - startedMs);
    }
    measured.push({ ...times, run });
    onProgress(`${rows} rows, round ${round + 1}/${rounds}: ${JSON.stringify({ ...times, run })}`);
  }
  const of = (reader: Reader): number => median(measured.map((times) => times[reader]));
  const ratios = measured.map((times) => times.audit / times.checksumTable);
  return {
    rows,
    medianMs: Object.fromEntries(readers.map((reader) => [reader, of(reader)])) as Times,
    ratioToChecksumTable: median(ratios),
    peakRssMiB: Math.round(peakRssMiB),
    rounds: measured,
  };
}

/** Reads the whole answer, row by row, and keeps none. */
function ask(socketPath: string, sql: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const connection = createConnection({ socketPath, user: 'root' });
    const query = connection.query({ sql, rowsAsArray: true });
    query.on('result', () => undefined);
    query.on('error', reject);
    query.on('end', () => {
      connection.destroy();
      resolve();
    });
  });
}

async function audit(host: BareHost, { folder, dataDirectory }: LedgerVolume): Promise<AuditRun> {
  const program = fileURLToPath(new URL('support/audit-run.ts', import.meta.url));
  const args = [program, host.lab.container, host.socket('a').inside, folder, seed, dataDirectory];
  const { stdout } = await promisify(execFile)(process.execPath, [...smallHeap(2), ...args], {
    env,
  });
  return JSON.parse(stdout) as AuditRun;
}

/** The history has one commit more than the ledger, and the audit must say so and no more. */
function mustFindOneLost({ rows, lost, findings }: AuditRun, written: number): void {
  if (rows === written && lost === 1 && findings.join() === 'LEDGER_LOST') return;
  const said = `${rows} of ${written} rows read, ${lost} lost, findings: ${findings.join(', ')}`;
  throw new EvidenceError('AUDIT_WRONG', `one commit of ${written + 1} is gone, but: ${said}`);
}

const perRow = (size: Size | undefined): number =>
  size === undefined ? Number.NaN : size.medianMs.audit / size.rows;

const describe = ({ rows, medianMs, ratioToChecksumTable, peakRssMiB }: Size): string =>
  `${rows} rows: audit ${medianMs.audit} ms, ${ratioToChecksumTable.toFixed(1)} x CHECKSUM TABLE ` +
  `(${medianMs.checksumTable} ms; target ${targetRatio} x), CHECK TABLE EXTENDED ` +
  `${medianMs.checkTableExtended} ms, plain stream ${medianMs.plainStream} ms; ` +
  `${peakRssMiB} MiB (target ${targetRssMiB})`;
