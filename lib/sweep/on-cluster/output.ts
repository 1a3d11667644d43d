/**
 * A shard's result as lines of a pod's log, and back. The log may have other lines in between; what
 * was cut, or is another shard's, is noticed.
 */
import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { EvidenceError } from '../../core/index.ts';
import type { SweepShard, SweepState } from '../sweep.ts';

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
export function resultLines(state: SweepState, { from, until }: SweepShard): string[] {
  const data = gzipSync(JSON.stringify(state)).toString('base64');
  const chunks = data.match(new RegExp(`.{1,${lineLength}}`, 'g')) ?? [];
  const { seed } = state;
  const head: ShardHead = { seed, from, until, lines: chunks.length, sha256: sha256(data) };
  return [
    `${mark} begin ${JSON.stringify(head)}`,
    ...chunks.map((chunk) => `${mark} data ${chunk}`),
    `${mark} end`,
  ];
}

/** Throws EvidenceError `SHARD_OUTPUT_CUT`, `SHARD_OUTPUT_FOREIGN`. */
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
  return JSON.parse(
    gunzipSync(Buffer.from(data, 'base64'), { maxOutputLength: stateBytes }).toString(),
  ) as SweepState;
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
