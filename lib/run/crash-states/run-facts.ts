/** What crash states need of a run: which commits were acknowledged when, and the log of its writes. */
import { z } from 'zod';
import { Journal, readVerdict } from '../../judge/index.ts';
import { EvidenceError, UsageError } from '../../core/index.ts';
import {
  type RunRecord,
  openHistory,
  gapsInWrites,
  openWrites,
  type WriteLog,
} from '../../history/index.ts';

export interface RunFacts {
  readonly run: RunRecord;
  readonly journal: Journal;
  /** Acknowledged operations, and when the first one was, ms on the run's clock. */
  readonly acked: number;
  readonly firstAckMs: number;
}

/** Throws EvidenceError where the run has no history, or nothing was acknowledged in it. */
export function readRunFacts(folder: string): RunFacts {
  const history = openHistory(folder);
  const run = runRecord(folder, history.smallRecords());
  const journal = new Journal();
  let acked = 0;
  let firstAckMs = Number.POSITIVE_INFINITY;
  for (const operation of history.ops()) {
    journal.add(operation);
    if (operation.outcome !== 'ok' || operation.endedAtMs === undefined) continue;
    acked += 1;
    firstAckMs = Math.min(firstAckMs, operation.endedAtMs);
  }
  if (acked === 0) {
    throw new EvidenceError('NOTHING_ACKED', `no commit was acknowledged in ${folder}`, {
      hint: 'there is nothing to lose; run it with --rate above 0',
    });
  }
  return { run, journal, acked, firstAckMs };
}

export function runRecord(folder: string, records: Iterable<{ readonly type: string }>): RunRecord {
  for (const record of records) if (record.type === 'run') return record as RunRecord;
  throw new EvidenceError('HISTORY_DAMAGED', `the history in ${folder} has no record of its run`);
}

export interface KeptWrites {
  readonly log: WriteLog;
  /** The zstd file with their data. */
  readonly dataPath: string;
}

/**
 * Throws UsageError where the run did not keep its writes with their data, EvidenceError where the
 * array lost some.
 */
export function keptWrites(folder: string): KeptWrites {
  const log = openWrites(folder);
  const [gap] = log === undefined ? [] : gapsInWrites(log);
  if (gap !== undefined) throw new EvidenceError('WRITES_GAP', gap);
  if (log?.dataPath !== undefined) return { log, dataPath: log.dataPath };
  throw new UsageError('WRITES_NOT_KEPT', `the run in ${folder} has no data of its writes`, {
    hint: 'run it again with --keep-writes',
  });
}

const exposureSchema = z.object({ exposure: z.object({ ms: z.number() }) });

/**
 * Throws UsageError where two nodes could write the volume at one time, by the run's verdict: its
 * states would be damaged by that, and a loss of power would get the blame.
 */
export function neededOneWriter(folder: string): void {
  const ms = readVerdict(folder, exposureSchema)?.exposure.ms ?? 0;
  if (ms === 0) return;
  const what = `two nodes could write the volume of ${folder} for ${ms} ms`;
  throw new UsageError('TWO_WRITERS', what, {
    hint: 'its crash states would show that damage; use a run without exposure',
  });
}
