/** What a pod of a sweep's Job does: plays the shard of its completion index, prints what came. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { EvidenceError, describeError, exitCode, ForcedetachError } from '../../core/index.ts';
import type { DiskMode } from '../../scenario/index.ts';
import { type SweepShard, type SweepState, newSweep, sweep } from '../sweep.ts';
import { playRange } from '../tally.ts';

/** The same for all shards of a Job. */
export interface ShardPlan {
  readonly seed: string;
  readonly disk?: DiskMode | undefined;
  /** By completion index. */
  readonly shards: readonly SweepShard[];
}

export const planFile = 'plan.json';
/** Ends a pod that met a fault of the model itself: another try would meet it again. */
export const faultExitCode = exitCode.infrastructure;

const sayEveryMs = 10_000;

/** Plays shard `index`; the lines are its result. Throws InfrastructureError `SCHEDULE_FAILED`. */
export async function playShard(
  { seed, disk, shards }: ShardPlan,
  index: number,
  say: (line: string) => void = () => undefined,
): Promise<string[]> {
  const shard = shards[index];
  if (shard === undefined) throw new RangeError(`there is no shard ${index}`);
  let shownMs = performance.now();
  const ended = await sweep({
    pool: { run: (stretch) => Promise.resolve(playRange(stretch)) },
    from: newSweep(seed, disk, shard.from),
    untilIndex: shard.until,
    onRound({ next }) {
      if (performance.now() - shownMs < sayEveryMs) return;
      shownMs = performance.now();
      say(`${next - shard.from} of ${shard.until - shard.from} schedules`);
    },
  });
  return resultLines(ended, shard);
}

/** The pod's program. `folder` has the plan. Sets the exit code, never throws. */
export async function runShard(folder: string): Promise<void> {
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  try {
    const plan = JSON.parse(readFileSync(join(folder, planFile), 'utf8')) as ShardPlan;
    const lines = await playShard(plan, Number(process.env['JOB_COMPLETION_INDEX']), say);
    say(lines.join('\n'));
  } catch (error) {
    say(describeError(error));
    process.exitCode = error instanceof ForcedetachError ? faultExitCode : 1;
  }
}

/** Below the 16 KiB at which container runtimes split a line. */
const lineLength = 8000;
const mark = 'forcedetach-shard';
/** Unpacked; a state has some 2 MB. */
const stateBytes = 256 * 1024 * 1024;

interface ShardHead extends SweepShard {
  readonly seed: string;
  readonly lines: number;
  /** Hash of the data lines' text. */
  readonly sha256: string;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The shard's state as JSON, gzip and base64: some 2 MB become 0.1 MB, where kubelets keep 10 MB. */
function resultLines(state: SweepState, { from, until }: SweepShard): string[] {
  const data = gzipSync(JSON.stringify(state)).toString('base64');
  const chunks = data.match(new RegExp(`.{1,${lineLength}}`, 'g')) ?? [];
  const { seed } = state;
  const head: ShardHead = { seed, from, until, lines: chunks.length, sha256: sha256(data) };
  const lines = [`begin ${JSON.stringify(head)}`, ...chunks.map((chunk) => `data ${chunk}`), 'end'];
  return lines.map((line) => `${mark} ${line}`);
}

/**
 * Back from a pod's log, which may have other lines in between. Throws EvidenceError `SHARD_OUTPUT_CUT`,
 * `SHARD_OUTPUT_FOREIGN`.
 */
export function parseResult(log: string, seed: string, { from, until }: SweepShard): SweepState {
  const ours = log.split('\n').filter((line) => line.startsWith(`${mark} `));
  const begin = ours.findIndex((line) => line.startsWith(`${mark} begin `));
  const rest = ours.slice(begin + 1);
  const end = rest.indexOf(`${mark} end`);
  const name = `the result of schedules ${from} to ${until - 1}`;
  if (begin === -1 || end === -1) throw cut(name, 'has no beginning or no end');
  const head = headIn(ours[begin] ?? '');
  const data = rest
    .slice(0, end)
    .map((line) => line.slice(`${mark} data `.length))
    .join('');
  if (head?.lines !== end || head.sha256 !== sha256(data)) throw cut(name, 'is not whole');
  if (head.seed !== seed || head.from !== from || head.until !== until) {
    throw new EvidenceError('SHARD_OUTPUT_FOREIGN', `${name} is the output of another shard`, {
      hint: `it has seed ${head.seed}, schedules ${head.from} to ${head.until - 1}`,
    });
  }
  const packed = Buffer.from(data, 'base64');
  return JSON.parse(gunzipSync(packed, { maxOutputLength: stateBytes }).toString()) as SweepState;
}

function headIn(line: string): ShardHead | undefined {
  try {
    return JSON.parse(line.slice(`${mark} begin `.length)) as ShardHead;
  } catch {
    return undefined;
  }
}

const cut = (name: string, why: string): EvidenceError =>
  new EvidenceError('SHARD_OUTPUT_CUT', `${name} ${why} in the pod's log`, {
    hint: 'kubelet keeps the last containerLogMaxSize of a log; more --shards make each smaller',
  });
