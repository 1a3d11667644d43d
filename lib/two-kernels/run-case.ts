/** Runs one case on one host from an empty database to the audited images: one result. */
import { readFile } from 'node:fs/promises';
import type { RealClock } from '../cluster/kind/real-clock.ts';
import { realClock } from '../cluster/kind/real-clock.ts';
import type { LedgerRow } from '../checkers/evidence.ts';
import { cases, type CaseName, type Filesystem } from './cases.ts';
import type { DiskLab } from './disk-lab.ts';
import type { Host, Node, NodeName } from './host.ts';
import type { AuditedCopy } from './judge.ts';
import { summarize, type Played } from './summarize.ts';
import type { Result } from './result.ts';
import { Side } from './side.ts';
import { Stage } from './stage.ts';
import type { WriterRecord } from '../workload/writer.ts';

export interface CaseRun {
  readonly name: CaseName;
  readonly host: Host;
  readonly filesystem: Filesystem;
  readonly repeat: number;
  /** Gives the content of what is written. */
  readonly seed: string;
  readonly lab: DiskLab;
  readonly signal: AbortSignal;
  readonly onStep: (step: string) => void;
}

/** Throws where the machine or the machinery fails; damage is a result. */
export async function runCase(run: CaseRun): Promise<Result> {
  const clock = realClock();
  const startedAt = new Date();
  const before = await cpuStalledUs();
  const played = await play(run, clock);
  const after = await cpuStalledUs();
  const playedMs = clock.nowMs();
  const copies = await audit(run, played);
  return summarize({
    ...{ run, played, copies, startedAt, durationMs: Math.round(clock.nowMs()) },
    cpuPressure:
      before === undefined || after === undefined ? null : (after - before) / 1000 / playedMs,
  });
}

/** The schedule, with two nodes that live no longer than it does. */
async function play(run: CaseRun, clock: RealClock): Promise<Played> {
  const { name, host, filesystem, seed, lab, signal, onStep, repeat } = run;
  const chosen = cases[name];
  const volume = `${name}-${host.kind}-${filesystem}-${repeat}`;
  onStep('a new volume');
  await lab.newVolume(volume, filesystem);
  await using stack = new AsyncDisposableStack();
  stack.defer(() => lab.removeVolume(volume));
  onStep('two nodes');
  const records: WriterRecord[] = [];
  const node = async (which: 'victim' | 'successor'): Promise<Node> =>
    stack.use(await host.start(which));
  const nodes = { victim: await node('victim'), successor: await node('successor') };
  const shared = {
    ...{ array: lab.array, volume, filesystem, seed, clock, records, signal },
    trxCommit: 'trxCommit' in chosen ? chosen.trxCommit : 1,
  } as const;
  const { loops } = lab.place;
  const side = (which: 'victim' | 'successor', generation: number): Side =>
    stack.use(new Side({ ...shared, node: nodes[which], generation, loop: loops[which] }));
  const victim = side('victim', 1);
  const successor = side('successor', 2);
  const { connections, rate } = chosen;
  const copy = (label: 'steady' | 'first' | 'second'): Promise<void> => lab.copy(volume, label);
  // What a held path has in hand must go before its node can.
  stack.defer(async () => {
    for (const { name: held } of [victim, successor]) {
      await lab.array.link({ node: held, state: 'pass' });
    }
  });
  const stage = new Stage({
    ...{ victim, successor, load: { connections, rate }, clock, signal, copy, onStep },
    written: () => writtenTo(lab, volume),
  });
  await chosen.run(stage);
  await victim.stopWriting();
  await successor.stopWriting();
  const logs = { victim: await victim.errorLines(), successor: await successor.errorLines() };
  const kernels = { victim: nodes.victim.kernel, successor: nodes.successor.kernel };
  return { stage, records, logs, kernels };
}

async function writtenTo(lab: DiskLab, volume: string): Promise<Record<NodeName, number>> {
  const written = { victim: 0, successor: 0 };
  for (const { node, bytesWritten } of await lab.array.status(volume)) {
    if (node === 'victim' || node === 'successor') written[node] += bytesWritten;
  }
  return written;
}

async function audit(run: CaseRun, { stage }: Played): Promise<AuditedCopy[]> {
  const copies: AuditedCopy[] = [];
  for (const { image, takenAtMs } of stage.images) {
    run.signal.throwIfAborted();
    run.onStep(`audit of the ${image} image`);
    const rows: LedgerRow[] = [];
    const evidence = await run.lab.auditor(run.seed).audit(image, (row) => void rows.push(row));
    copies.push({ image, takenAtMs, evidence, rows });
  }
  return copies;
}

/** Microseconds since boot in which some task waited for a processor; undefined without PSI. */
async function cpuStalledUs(): Promise<number | undefined> {
  const text = await readFile('/proc/pressure/cpu', 'utf8').catch(() => '');
  const total = /some .*total=(\d+)/.exec(text)?.[1];
  return total === undefined ? undefined : Number(total);
}
