import {
  cpSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { HistoryRecord, TimedRecord } from './records.ts';
import { openHistory } from './reader.ts';
import { findFrames, Segment } from './segment.ts';
import { historyDirectory } from './recorder.ts';
import { readSegment, type SegmentSeal } from './segment-reader.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'forcedetach-segment-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const name = 'writer-inside';
const histOf = (run: string): string => join(run, 'history', `${name}.hist`);
const tailOf = (run: string): string => join(run, 'history', `${name}.tail.jsonl`);

/** An invoke and its outcome for each n, some of them failed, on two connections. */
function operations(count: number): TimedRecord[] {
  return Array.from({ length: count }, (_, n) => n).flatMap((n): TimedRecord[] => {
    const id = { client: 'inside', connection: n % 2, session: 0, seq: Math.floor(n / 2) };
    const kind = n % 5 === 0 ? 'transfer' : 'append';
    const failed = { outcome: 'fail', error: 'ER_LOCK: „warte“' } as const;
    return [
      { type: 'invoke', t: n + 0.125, ...id, kind },
      {
        type: 'outcome',
        t: n + 0.25,
        ...id,
        ...(n % 7 === 3 ? failed : { outcome: 'ok' as const }),
      },
    ];
  });
}

function write(run: string, records: readonly HistoryRecord[], frameBytes?: number): Segment {
  const frames = frameBytes === undefined ? {} : { frameBytes };
  const segment = new Segment({
    directory: historyDirectory(run),
    name,
    client: 'inside',
    ...frames,
  });
  for (const record of records) {
    segment.append(record);
    segment.flush();
  }
  return segment;
}

const copyOf = (run: string, name: string): string => {
  const copy = join(folder, name);
  rmSync(copy, { recursive: true, force: true });
  cpSync(run, copy, { recursive: true });
  return copy;
};

test('what was flushed can be read while the segment is being written, and after its end', () => {
  const run = join(folder, 'run');
  const records = operations(100);
  const segment = write(run, records, 500);
  expect([...openHistory(run).records()]).toEqual(records);
  segment.close();
  expect([...openHistory(run).records()]).toEqual(records);
  expect(openHistory(run).cuts).toEqual([]);
});

test('a tail cut at any byte gives every whole line and says that it is cut', () => {
  const run = join(folder, 'run');
  const records = operations(12);
  write(run, records);
  const tail = readFileSync(tailOf(run), 'utf8');
  for (let length = 0; length < Buffer.byteLength(tail); length++) {
    const copy = copyOf(run, 'copy');
    truncateSync(tailOf(copy), length);
    const history = openHistory(copy);
    const whole = readFileSync(tailOf(copy)).filter((byte) => byte === 0x0a).length - 1;
    expect([...history.records()]).toEqual(records.slice(0, Math.max(0, whole)));
    const cut = length > 0 && readFileSync(tailOf(copy)).at(-1) !== 0x0a;
    expect(history.cuts).toEqual(cut ? [{ segment: name, within: 'line' }] : []);
  }
});

test('a kill at any byte of a frame’s write loses nothing flushed and doubles nothing', () => {
  const run = join(folder, 'run');
  const records = operations(200);
  const segment = write(run, [], 1000);
  let before = copyOf(run, 'before');
  let written = 0;
  for (const record of records) {
    const sizeBefore = statSync(histOf(run)).size;
    segment.append(record);
    segment.flush();
    const sizeAfter = statSync(histOf(run)).size;
    if (sizeAfter > sizeBefore && sizeBefore > 0) {
      for (let size = sizeBefore; size <= sizeAfter; size++) {
        const copy = copyOf(run, 'copy');
        truncateSync(histOf(copy), size);
        // The tail as it was: it is emptied only after the frame is written.
        cpSync(tailOf(before), tailOf(copy));
        const read = [...openHistory(copy).records()];
        expect(read.length).toBe(size === sizeAfter ? written + 1 : written);
        expect(read).toEqual(records.slice(0, read.length));
        const cut = size !== sizeBefore && size !== sizeAfter;
        expect(openHistory(copy).cuts.length).toBe(cut ? 1 : 0);
      }
      return;
    }
    written += 1;
    if (written % 20 === 0 || sizeAfter === sizeBefore) before = copyOf(run, 'before');
  }
  expect.fail('no frame was written');
});

test('a kill between a frame and the emptying of its tail, and before the new tail’s head', () => {
  const run = join(folder, 'run');
  const records = operations(100);
  write(run, records, 800).close();
  const whole = join(folder, 'whole');
  write(whole, records);
  const copy = copyOf(run, 'copy');
  cpSync(tailOf(whole), tailOf(copy));
  expect([...openHistory(copy).records()]).toEqual(records);
  truncateSync(tailOf(copy), 0);
  expect([...openHistory(copy).records()]).toEqual(records);
});

test('a segment is never written over', () => {
  const run = join(folder, 'run');
  write(run, operations(1)).close();
  expect(() => write(run, operations(1))).toThrow(/EEXIST/);
});

const sealOf = (run: string): SegmentSeal => readSegment(join(run, 'history'), name);

/** The bytes of each frame, its head included. */
function framesOf(file: Buffer): Buffer[] {
  const { frames } = findFrames(file.length, (offset, length) =>
    file.subarray(offset, offset + length),
  );
  let start = 0;
  return frames.map(({ offset, head }) => file.subarray(start, (start = offset + head.bytes)));
}

test('a segment ends with its counts, which are those that its writer was given', () => {
  const run = join(folder, 'run');
  const segment = write(run, operations(100), 500);
  expect(sealOf(run)).toMatchObject({ end: undefined, brokenAt: undefined });
  const told = segment.close();
  expect(told).toMatchObject({ records: 200, small: 0 });
  expect(told.frames).toBeGreaterThan(3);
  expect(sealOf(run)).toMatchObject({ counts: told, end: told, brokenAt: undefined });
  expect(segment.close()).toEqual(told);
});

test('a frame of another segment with as many records, or one behind the end, breaks the chain', () => {
  const [run, other] = [join(folder, 'run'), join(folder, 'other')];
  const moved = operations(100).map((record) => ({ ...record, t: record.t + 1 }));
  write(run, operations(100), 500).close();
  write(other, moved, 500).close();
  const own = framesOf(readFileSync(histOf(run)));
  const foreign = framesOf(readFileSync(histOf(other)));
  const end = own.at(-1) ?? Buffer.alloc(0);
  const broken = (frames: readonly Buffer[]): number | undefined => {
    writeFileSync(histOf(run), Buffer.concat(frames));
    return sealOf(run).brokenAt;
  };
  expect(broken(own.with(2, foreign[2] ?? end))).toBe(2);
  expect(broken([...own, end])).toBe(own.length);
  expect(broken(own)).toBe(undefined);
});
