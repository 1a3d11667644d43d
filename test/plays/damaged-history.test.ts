/** Whatever is damaged in a run's folder is said with file and place; what is left can be read. */
import {
  appendFileSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, afterAll, expect, test } from 'vitest';
import { $ } from '../../lib/kind/engine/shell.ts';
import { assembleVerdict } from '../../lib/judge/verdict/assemble.ts';
import { EvidenceError, ForcedetachError } from '../../lib/core/errors.ts';
import { exportHistory } from '../../lib/report/export.ts';
import { findFrames } from '../../lib/history/segment.ts';
import { openHistory } from '../../lib/history/reader.ts';
import { corpusRun } from '../support/committed.ts';
import { mysql } from '../../lib/mysql/database.ts';

const sample = 'reports/samples/node-crash';
let whole: string;
let folder: string;
let code: number | null;
const at = (file: string): string => join(folder, 'history', file);

/** A run of today, made here: its histories have ends and chains. */
beforeAll(async () => {
  whole = mkdtempSync(join(tmpdir(), 'forcedetach-whole-'));
  const words = [
    '--cluster',
    'sim',
    '--seed',
    'damage',
    '--rate',
    '2',
    '--out',
    join(whole, 'run'),
  ];
  const run = await $({ quiet: true, nothrow: true })`node experiments/node-crash.mjs ${words}`;
  code = run.exitCode;
});
afterAll(() => rmSync(whole, { recursive: true }));

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'forcedetach-damage-'));
  cpSync(join(whole, 'run', 'history'), join(folder, 'history'), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true }));

test('a report that is made anew ends as its run did, whatever that was', async () => {
  const again = await $({ quiet: true, nothrow: true })`node experiments/report.mjs ${whole}/run`;
  expect(again.exitCode).toBe(code);
  expect([0, 1, 5]).toContain(code);
});

/** Everything that a report reads, once. Gives what it throws. */
function read(salvage = false): ForcedetachError | undefined {
  try {
    const history = openHistory(folder, { salvage });
    assembleVerdict(history, { database: mysql });
    for (const image of ['steady', 'first', 'second'] as const)
      expect([...history.rows(image)]).toBeDefined();
    return undefined;
  } catch (error) {
    if (error instanceof ForcedetachError) return error;
    throw error;
  }
}

/** As if the writer had been killed: the lines stand in the tail. */
function tailWith(lines: string): void {
  cpSync(join(sample, 'history'), join(folder, 'history'), { recursive: true });
  writeFileSync(at('observer.hist'), '');
  writeFileSync(at('observer.tail.jsonl'), lines);
}

const beat = JSON.stringify({
  ...{ type: 'observation', t: 1, wall: 1, source: 'x', name: 'y', data: {} },
});

test.each([
  ['NULs', `{"first":0}\n${beat}\n${'\0'.repeat(40)}\n`, /observer\.tail\.jsonl: line 3 /],
  ['null', `{"first":0}\n${beat}\nnull\n`, /observer\.tail\.jsonl: line 3 /],
  ['half a line in the middle', `{"first":0}\n${beat.slice(9)}\n${beat}\n`, /line 2 /],
  ['another type', `{"first":0}\n{"type":"constructor","t":1}\n`, /line 2 /],
  ['a record without its fields', `{"first":0}\n{"type":"observation","t":1}\n`, /line 2 /],
  ['no operation', `{"first":0,"client":"outside"}\n[1,"z",0]\n`, /line 2 /],
  ['NULs in an operation', `{"first":0,"client":"outside"}\n[\0\0\0\0\0\n`, /line 2 /],
  ['a head that is none', `null\n${beat}\n`, /observer\.tail\.jsonl: line 1 /],
  ['a negative head', `{"first":-4}\n${beat}\n`, /observer\.tail\.jsonl: line 1 /],
  ['a head that skips', `{"first":7}\n${beat}\n`, /records 0 to 7 are missing/],
])('a tail with %s', (_, lines, where) => {
  tailWith(lines);
  const error = read();
  expect(error?.code).toBe('HISTORY_DAMAGED');
  expect(error?.message).toMatch(where);
  expect(read(true)).toBeUndefined();
});

test('the lines before the damage are read', () => {
  tailWith(`{"first":0}\n${beat}\n${beat}\n\0\n${beat}\n`);
  const history = openHistory(folder, { salvage: true });
  const beats = [...history.smallRecords()].filter(
    (record) => record.type === 'note' && record.source === 'x',
  );
  expect(beats.length).toBe(2);
  expect(assembleVerdict(history, { database: mysql }).verdict).toBe('inconclusive');
});

test('a segment cut at any byte is read, cut or damaged: nothing else ever happens', () => {
  const file = at('run.hist');
  const bytes = readFileSync(file);
  const step = Math.max(1, Math.floor(bytes.length / 60));
  for (let length = 0; length < bytes.length; length += step) {
    truncateSync(file, length);
    expect([undefined, 'HISTORY_DAMAGED', 'HISTORY_EMPTY']).toContain(read()?.code);
    expect([undefined, 'HISTORY_EMPTY']).toContain(read(true)?.code);
    writeFileSync(file, bytes);
  }
});

test.each(['first', 'count', 'bytes'])('a frame whose head says −1 for %s', (field) => {
  const bytes = readFileSync(at('run.hist'));
  const text = bytes.toString('latin1');
  const number = new RegExp(`"${field}":(\\d+)`).exec(text)?.[1] ?? '';
  const minus = `-${'1'.padStart(number.length - 1, '0')}`;
  const changed =
    number.length > 1
      ? text.replace(`"${field}":${number}`, `"${field}":${minus}`)
      : text.replace(`"${field}":${number}`, `"${field}":x`);
  writeFileSync(at('run.hist'), Buffer.from(changed, 'latin1'));
  expect(read()?.message).toMatch(/run\.hist: byte 0 begins no frame/);
});

test('bytes of zero where a frame should be, as a loss of power leaves them', () => {
  const bytes = readFileSync(at('run.hist'));
  appendFileSync(at('run.hist'), Buffer.alloc(4096));
  expect(read()?.message).toContain(`run.hist: byte ${bytes.length} begins no frame`);
  expect(assembleVerdict(openHistory(folder, { salvage: true }), { database: mysql }).verdict).toBe(
    'inconclusive',
  );
});

test('a frame that is missing in the middle: the others are read', () => {
  cpSync(join(corpusRun('controller-restart'), 'history'), join(folder, 'history'), {
    recursive: true,
  });
  const bytes = readFileSync(at('run.hist'));
  const slice = (offset: number, length: number): Buffer => bytes.subarray(offset, offset + length);
  const { frames } = findFrames(bytes.length, slice);
  expect(frames.length).toBeGreaterThan(2);
  const [from = 0, to = 0] = frames.map(({ offset, head }) => offset + head.bytes);
  writeFileSync(at('run.hist'), Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]));
  expect(read()?.message).toMatch(/run\.hist: records \d+ to \d+ are missing/);
  expect(read(true)).toBeUndefined();
});

test('frames that are gone while the tail is there', () => {
  writeFileSync(at('lost.tail.jsonl'), `{"first":0}\n${beat}\n`);
  expect(read()?.message).toContain("lost.hist: it can't be read");
  expect(read(true)).toBeUndefined();
});

test('a run whose own segment is gone is told in one line', () => {
  rmSync(at('run.hist'));
  expect(read()?.code).toBe('HISTORY_EMPTY');
});

test('a folder in the place of a segment', () => {
  rmSync(at('run.hist'));
  cpSync('docs/decisions', at('run.hist'), { recursive: true });
  expect(read()?.code).toBe('HISTORY_DAMAGED');
});

test('a history that is not whole is exported only by the name of partial', () => {
  truncateSync(at('writer-outside.hist'), 200);
  expect(() => exportHistory(folder, openHistory(folder), { database: mysql })).toThrow(
    EvidenceError,
  );
  expect(readdirSync(folder)).toEqual(['history']);
  const history = openHistory(folder, { salvage: true });
  const files = exportHistory(folder, history, { database: mysql, partial: true });
  expect(files.at(-1)).toContain('PARTIAL.txt');
  expect(readFileSync(files.at(-1) ?? '', 'utf8')).toContain('writer-outside');
});
