/** Records of a volume under a cut, as two pods and a disk of a given kind leave them, for tests of the judgement. */
import { answeredMs } from '../../lib/probe/judge/heard.ts';
import {
  type CutRecord,
  type CutVolume,
  type PodJournal,
  type Write,
  emptyJournal,
} from '../../lib/probe/judge/record.ts';

/** The cut is at 100 s, the remedy at 120 s, the heal at 400 s; unix milliseconds are of that clock. */
export const cutRecord: CutRecord = {
  ...{ armedMs: 90_000, cutMs: 100_000, notReadyMs: 120_000, remedyMs: 120_000 },
  ...{ healedMs: 400_000, readyAgainMs: 410_000, checked: true, volumes: [] },
  looks: [
    { word: 'down', atMs: 100_000 },
    { word: 'up', atMs: 400_000 },
  ],
};

export const cutPlan = { nodes: ['a', 'b'], healAfterMs: 310_000, remedy: 'force-delete' } as const;

export interface CutKind {
  /** The last write of the old pod before the heal; Infinity: it writes to the end. */
  readonly lastMs?: number;
  /** What comes of it then: errors, nothing, or one write that hangs until then and is acknowledged. */
  readonly after?: 'errors' | 'nothing' | { readonly heldUntilMs: number };
  /** Its writes are acknowledged again from then on. */
  readonly backMs?: number;
  readonly goneMs?: number;
  readonly inMs?: number;
  /** What the next pod's writes are told. */
  readonly nextError?: string;
}

const [firstMs, endMs, everyMs] = [95_000, 405_000, 100];
const scanEveryMs = 10_000;

export function cutWrites(kind: CutKind = {}): Write[] {
  const { lastMs = Infinity, after = 'errors', backMs = Infinity } = kind;
  const writes: Write[] = [];
  for (let begunMs = firstMs; begunMs < endMs; begunMs += everyMs) {
    const isOn = begunMs <= lastMs || begunMs >= backMs;
    const write = { seq: writes.length, begunMs, tookMs: 1 };
    if (isOn) writes.push(write);
    else if (after === 'errors') writes.push({ ...write, error: 'EIO' });
    else if (after !== 'nothing' && begunMs < lastMs + everyMs + 1) {
      writes.push({ ...write, tookMs: after.heldUntilMs - begunMs });
    }
  }
  return writes;
}

const rangesOf = (seqs: readonly number[]): [number, number][] => {
  const runs: [number, number][] = [];
  for (const seq of seqs) {
    const last = runs.at(-1);
    if (last?.[1] === seq - 1) last[1] = seq;
    else runs.push([seq, seq]);
  }
  return runs;
};

/** What a next pod says that reads `onDisk`: from each write's answer on it is there. */
export function nextJournalOf({ inMs, nextError }: CutKind, onDisk: readonly Write[]): PodJournal {
  if (inMs === undefined) return emptyJournal;
  const scans = [];
  const writes: Write[] = [];
  for (let atMs = inMs; atMs < 430_000; atMs += scanEveryMs) {
    const found = onDisk.filter((write) => answeredMs(write) < atMs).map(({ seq }) => seq);
    scans.push({ atMs, ranges: rangesOf(found) });
    const error = nextError === undefined ? {} : { error: nextError };
    writes.push({ seq: writes.length, begunMs: atMs + 10, tookMs: 1, ...error });
  }
  return { ...emptyJournal, startedMs: inMs, isDirect: true, scans, writes };
}

export function cutVolume(kind: CutKind = {}, more: Partial<CutVolume> = {}): CutVolume {
  const { goneMs, inMs } = kind;
  const writes = cutWrites(kind);
  const deletingMs = Math.min(goneMs ?? 180_000, 180_000);
  return {
    ...{ name: 'cut-1', storageClass: 'fast', variant: 'contested', claim: 'cut-1' },
    ...{ deleteAskedMs: 120_000, watchEndedMs: 415_000, events: [] },
    ...{ clockOffsetMs: 0, clockErrorMs: 250, nextClockOffsetMs: 0 },
    attachments: [
      {
        ...{ uid: 'u', firstSeenMs: 80_000, lastSeenMs: deletingMs },
        ...{ unaskedMs: deletingMs - 500, deletingMs },
      },
    ],
    writerJournal: { ...emptyJournal, writes },
    nextJournal: nextJournalOf(
      kind,
      writes.filter(({ error }) => error === undefined),
    ),
    ...(goneMs === undefined ? {} : { goneMs, thereUntilMs: goneMs - 200 }),
    next: { node: 'b', createdMs: 121_000, ...(inMs === undefined ? {} : { runningMs: inMs }) },
    ...more,
  };
}
