/**
 * How long the audit of a million ledger rows takes, against CHECKSUM TABLE over the same rows on
 * the same server. Needs root, docker and the tools image; no cluster.
 */
import { judgeImages } from '../lib/checkers/index.ts';
import type { JournaledOp } from '../lib/checkers/journal.ts';
import type { LedgerRow } from '../lib/checkers/evidence.ts';
import { kindAuditor } from '../lib/cluster/kind/audit/auditor.ts';
import { EvidenceError } from '../lib/errors.ts';
import type { ImageRecord } from '../lib/history/events.ts';
import { BareHost, testLoops } from '../test/cluster/bare-host.ts';
import { fillLedger } from '../test/cluster/fill-ledger.ts';
import type { BenchContext, BenchResult } from './support/bench.ts';

const rowCount = 1_000_000;
const seed = 'audit-bench';
/** Reading every row and judging it may take so many times as long as CHECKSUM TABLE. */
const targetRatio = 6;

export default async function bench({ onProgress }: BenchContext): Promise<BenchResult> {
  await using host = await BareHost.start(onProgress);
  const volume = await host.newVolume('million');
  const disk = await volume.attach('a');
  const server = await disk.startServer();
  onProgress(`writing ${rowCount} rows`);
  const ops = await fillLedger(server, { rows: rowCount, seed });
  await server.stop();
  await disk.detach();
  await volume.copy('first');

  onProgress('auditing');
  const rows: LedgerRow[] = [];
  const auditor = kindAuditor({ lab: host.lab, loop: testLoops.audit, seed });
  const evidence = await auditor.audit('first', (row) => rows.push(row));
  const startedMs = performance.now();
  const record = { type: 'image', t: 0, image: 'first', takenAtMs: 1, evidence } as const;
  const { findings } = judgeImages(historyOf(record, ops, rows), {});
  const judgeMs = Math.round(performance.now() - startedMs);
  if (findings.length > 0) {
    throw new EvidenceError('NOT_HEALTHY', `the audit found ${findings[0]?.summary}`);
  }
  const durationsMs: Record<string, number> = { ...evidence.durationsMs, judge: judgeMs };
  const checksumMs = Number(durationsMs['checksum']);
  const ledgerMs = Number(durationsMs['ledger']);
  const ratio = ledgerMs / checksumMs;
  const data = { rows: rowCount, ratio, targetRatio, durationsMs };
  const lines = [
    `ledger read and verified: ${ledgerMs} ms for ${rowCount} rows, ` +
      `${ratio.toFixed(1)} x CHECKSUM TABLE (${checksumMs} ms), target ${targetRatio} x`,
    ...Object.entries(durationsMs).map(([step, ms]) => `  ${step}: ${ms} ms`),
  ];
  return { ok: ratio <= targetRatio, data, lines };
}

const historyOf = (
  record: ImageRecord,
  ops: readonly JournaledOp[],
  rows: readonly LedgerRow[],
): Parameters<typeof judgeImages>[0] => ({
  smallRecords: () => [{ type: 'run', seed } as never, record],
  ops: () => ops,
  rows: () => rows,
});
