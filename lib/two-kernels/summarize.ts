/** From what was played and audited to the facts that are committed. */
import type { Judgement } from '../checkers/index.ts';
import { worst } from '../experiment/verdict/verdict.ts';
import type { WriterRecord } from '../workload/writer.ts';
import { cases } from './cases.ts';
import type { NodeName } from './host.ts';
import { judge, type AuditedCopy } from './judge.ts';
import type { ImageResult, Result } from './result.ts';
import type { CaseRun } from './run-case.ts';
import type { Stage } from './stage.ts';

export interface Played {
  readonly stage: Stage;
  readonly records: readonly WriterRecord[];
  readonly logs: Result['logs'];
  readonly kernels: Result['kernels'];
}

export interface Summarized {
  readonly run: Pick<CaseRun, 'name' | 'host' | 'filesystem' | 'repeat' | 'seed'>;
  readonly played: Played;
  readonly copies: readonly AuditedCopy[];
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly cpuPressure: number | null;
}

/** Errors kept of each log, and the length of each. */
const maxErrors = 8;
const maxErrorLength = 240;

export function summarize({ run, played, copies, ...machine }: Summarized): Result {
  const { stage, records, kernels } = played;
  const { connections, rate, ...chosen } = cases[run.name];
  const handoverAtMs = stage.takeover?.mountedAtMs;
  const { faultAtMs } = stage;
  const judgement = judge(run.seed, records, copies, {
    faultAtMs,
    handoverAtMs,
    victimNode: 'victim',
  });
  const acks = ackTimes(records);
  return {
    schemaVersion: 2,
    case: run.name,
    host: run.host.kind,
    filesystem: run.filesystem,
    repeat: run.repeat,
    seed: run.seed,
    startedAt: machine.startedAt.toISOString(),
    durationMs: machine.durationMs,
    kernels,
    ...(run.host.cpus === undefined ? {} : { cpus: run.host.cpus }),
    connections,
    rate,
    trxCommit: 'trxCommit' in chosen ? chosen.trxCommit : 1,
    takeover: takeoverOf(stage),
    acked: { victim: acks.victim.length, successor: acks.successor.length },
    victimAckedBeside: acks.victim.filter((t) => t > (handoverAtMs ?? Number.POSITIVE_INFINITY))
      .length,
    logs: { victim: shortLog(played.logs.victim), successor: shortLog(played.logs.successor) },
    marks: stage.marks,
    unflushedBytes: stage.unflushedBytes ?? null,
    images: copies.map((copy) => imageOf(copy, judgement)),
    cpuPressure: machine.cpuPressure === null ? null : Math.round(machine.cpuPressure * 100) / 100,
  };
}

function takeoverOf({ takeover }: Stage): Result['takeover'] {
  return {
    fsckExitCode: takeover?.fsckExitCode ?? -1,
    mounted: takeover?.mountedAtMs !== undefined,
    mountError: takeover?.mountError ?? null,
    ready: takeover?.ready ?? false,
    died: takeover?.died ?? false,
    startMs: takeover?.startMs ?? null,
  };
}

function imageOf({ image, evidence }: AuditedCopy, judgement: Judgement): ImageResult {
  if (image === 'steady') throw new TypeError('a case has no steady image');
  const about = judgement.findings.filter(({ summary }) => summary.startsWith(`${image} image`));
  const found = judgement.reconciliations.get(image);
  if (found === undefined) throw new TypeError(`the ${image} image was not judged`);
  const { successor, ...epochs } = found.byEpoch;
  const victim = Object.values(epochs);
  const errors = [...new Set(evidence.starts.flatMap(({ errorLines }) => errorLines))];
  const unchecked = evidence.tables.filter(({ check }) => check !== 'OK');
  return {
    image,
    safety: worst(about.map(({ safety }) => safety)),
    complete: about.every(({ level }) => level !== 'incomplete'),
    findings: [...new Set(about.map(({ code }) => code))].toSorted(),
    loud: about.some(({ loud, level }) => loud && level === 'damage'),
    rows: evidence.ledgerRows,
    readable: evidence.ledgerComplete,
    victim: { acked: sum(victim, 'acked'), lost: sum(victim, 'lost') },
    successor: { acked: successor.acked, lost: successor.lost },
    fsckReplayExitCode: evidence.fsckReplay?.exitCode ?? null,
    fsckExitCode: evidence.fsck?.exitCode ?? null,
    checkTable: unchecked
      .map(({ table, check }) => `${table}: ${check ?? 'no answer'}`)
      .slice(0, maxErrors),
    starts: evidence.starts.map(({ purpose, ready, died }) => ({
      purpose,
      ready,
      died: died ?? null,
    })),
    errorLines: errors.length,
    errors: shortened(errors),
    failures: shortened(evidence.failures),
    auditMs: evidence.durationsMs?.['audit'] ?? 0,
  };
}

const sum = (epochs: readonly { acked: number; lost: number }[], key: 'acked' | 'lost'): number =>
  epochs.reduce((total, epoch) => total + epoch[key], 0);

const shortened = (lines: readonly string[]): string[] =>
  lines.slice(0, maxErrors).map((line) => line.slice(0, maxErrorLength));

const shortLog = (lines: readonly string[] | null): string[] | null =>
  lines === null ? null : shortened([...new Set(lines)]);

/** Times of the acknowledgements by side, ms on the run's clock; the client says which side it is. */
function ackTimes(records: readonly WriterRecord[]): Record<NodeName, number[]> {
  const times: Record<NodeName, number[]> = { victim: [], successor: [] };
  for (const record of records) {
    if (record.type !== 'outcome' || record.outcome !== 'ok') continue;
    times[record.client === 'inside' ? 'victim' : 'successor'].push(record.t);
  }
  return times;
}
