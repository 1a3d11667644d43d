/** A result made up for tests, with what a test says of it. */
import type { ImageResult, Result } from './result.ts';

const image: ImageResult = {
  image: 'second',
  safety: 'safe',
  complete: true,
  findings: [],
  loud: false,
  rows: 180,
  readable: true,
  victim: { acked: 100, lost: 0 },
  successor: { acked: 80, lost: 0 },
  fsckReplayExitCode: 0,
  fsckExitCode: 0,
  checkTable: [],
  starts: [{ purpose: 'recovery', ready: true, died: null }],
  errorLines: 0,
  errors: [],
  failures: [],
  auditMs: 9_000,
};

const mark = (step: string, victimMiB: number): Result['marks'][number] => ({
  ...{ step, atMs: 30_000, acked: { victim: 100, successor: 80 } },
  bytesWritten: { victim: victimMiB * 2 ** 20, successor: 8192 },
});

const result: Result = {
  schemaVersion: 2,
  case: 'crash',
  host: 'loops',
  filesystem: 'ext4',
  repeat: 1,
  seed: 'example',
  startedAt: '2026-01-01T00:00:00.000Z',
  durationMs: 40_000,
  kernels: { victim: '6.1', successor: '6.1' },
  connections: 4,
  rate: 100,
  trxCommit: 1,
  takeover: {
    ...{ fsckExitCode: 0, mounted: true, mountError: null },
    ...{ ready: true, died: false, startMs: 2_000 },
  },
  acked: { victim: 100, successor: 80 },
  victimAckedBeside: 0,
  logs: { victim: null, successor: [] },
  marks: [mark('successor takes over', 1), mark('second image', 3)],
  unflushedBytes: null,
  images: [image],
  cpuPressure: 0.5,
};

export const exampleImage = (changed: Partial<ImageResult> = {}): ImageResult => ({
  ...image,
  ...changed,
});

export const exampleResult = (changed: Partial<Result> = {}): Result => ({ ...result, ...changed });
