/** Exposure from the disk's log of writes: exact to the block, with cuts and severed links. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { see, storyOf } from '../../../test/support/run-record.ts';
import { placeWrites, type WriteInput } from '../../../test/support/writes.ts';
import { diskFindings } from '../verdict/findings.ts';
import type { ScenarioInput } from '../../scenario/scenario.ts';
import { linkCertificates } from '../evidence/certificates.ts';
import { observed } from '../../history/observations.ts';
import type { SmallRecord } from '../../history/records.ts';
import { linkFlags, openWrites, writeOps, type WriteLog } from '../../history/writes.ts';
import { exposureOf } from './access.ts';
import type { Story } from './story.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'forcedetach-exposure-'))));
afterEach(() => rmSync(folder, { recursive: true }));

/** A record at so many ms of the run's clock; generation 1 is the victim's, 2 the successor's. */
function at(ms: number, generation: 1 | 2, op: number, more: Partial<WriteInput> = {}): WriteInput {
  return { timeNs: BigInt(ms) * 1_000_000n, generation, op: op as WriteInput['op'], ...more };
}
const write = (ms: number, generation: 1 | 2, offset: number, length = 4096): WriteInput =>
  at(ms, generation, writeOps.write, { offset, length });

function logOf(...records: WriteInput[]): WriteLog {
  const nodes = { 1: 'a', 2: 'b' };
  placeWrites(folder, { sizeBytes: 1 << 20, originNs: 0n, nodes, records });
  const log = openWrites(folder);
  if (log === undefined) throw new Error('no log');
  return log;
}

const story = (fields: Partial<ScenarioInput> = {}, ...more: readonly SmallRecord[]): Story =>
  storyOf(
    [
      ...more,
      { type: 'phase', t: 50_000, phase: 'heal' },
      see(55_000, observed.unmounted, 'a'),
      { type: 'phase', t: 90_000, phase: 'report' },
    ],
    fields,
  );

const opened = at(10, 1, writeOps.open);
const fenced = (t: number, text: string): SmallRecord =>
  see(t, observed.selfFence, 'a', { line: `self-fence: ${text}` });
const shut = fenced(5_000, 'read-only: /var/lib/mysql');

test('a file system that the self-fence took away is no exposure, where no write came after it', () => {
  const before = logOf(opened, write(4_900, 1, 0), at(9_000, 2, writeOps.open), write(9_100, 2, 0));
  expect(exposureOf(story({}, shut), { writes: before }).summary.ms).toBe(0);
  const again = fenced(20_000, 'open: the Lease is renewed');
  expect(exposureOf(story({}, shut, again), { writes: before }).summary.ms).toBeGreaterThan(0);
  const after = logOf(opened, at(9_000, 2, writeOps.open), write(9_100, 2, 0), write(9_200, 1, 0));
  expect(exposureOf(story({}, shut), { writes: after }).summary.ms).toBeGreaterThan(0);
});

test('without a log the counters bear a self-fence out, where they were read after it', () => {
  const counted = (t: number, bytesWritten: number): SmallRecord =>
    see(t, observed.deviceWritten, 'a', { device: 'x', generation: 1, bytesWritten });
  const second = see(20_000, observed.mounted, 'b', { device: 'y' });
  const first = [see(100, observed.mounted, 'a', { device: 'x' }), counted(900, 4096), second];
  const ms = (...more: SmallRecord[]): number =>
    exposureOf(story({}, ...first, ...more)).summary.ms;
  expect(ms()).toBeGreaterThan(0);
  expect(ms(shut)).toBeGreaterThan(0);
  expect(ms(shut, counted(6_000, 8192), counted(30_000, 8192))).toBe(0);
  expect(ms(shut, counted(6_000, 8192), counted(30_000, 12_288))).toBeGreaterThan(0);
});

test('bytes and blocks count while both paths are open', () => {
  const writes = logOf(
    opened,
    write(500, 1, 0),
    write(20_000, 1, 8192),
    at(29_000, 2, writeOps.open),
    write(30_000, 2, 4096, 8192),
    write(31_000, 1, 8192 + 512, 512),
    write(32_000, 1, 65_536),
    at(33_000, 2, writeOps.zero, { offset: 65_536, length: 4096 }),
    write(54_000, 1, 4096),
    at(55_000, 1, writeOps.close),
    write(56_000, 2, 0),
  );
  const exposure = exposureOf(story(), { writes });
  expect(exposure).toMatchObject({ handoverAtMs: 30_000, from: 29_000, to: 55_000 });
  expect(exposure.summary).toEqual({
    ms: 26_000,
    bytesVictim: 512 + 4096 + 4096,
    bytesSuccessor: 8192,
    blocksBoth: 3,
    fromS: 28,
    toS: 54,
  });
  expect(exposure.tally?.firstOffsets).toEqual([4096, 8192, 65_536]);
  const [finding] = diskFindings(story(), exposure, nothingElse);
  expect(finding?.evidence.join('\n')).toContain('both wrote 3 blocks of 4096 bytes');
});

const nothingElse = { refused: [], isTold: false };

test('a cut before the successor’s first write ends all, and refused writes prove the fence', () => {
  const writes = logOf(
    opened,
    at(29_000, 1, writeOps.cut),
    at(29_500, 1, writeOps.refused, { offset: 0, length: 4096 }),
    write(30_000, 2, 4096),
    at(31_000, 1, writeOps.refused, { offset: 4096, length: 8192 }),
  );
  const exposure = exposureOf(story(), { writes });
  expect(exposure.summary).toEqual({ ms: 0, bytesVictim: 0, bytesSuccessor: 0 });
  expect(exposure.marks?.refused).toEqual({ count: 2, bytes: 12_288 });
  const findings = diskFindings(story(), exposure, nothingElse);
  expect(findings.map(({ code, safety }) => [code, safety])).toEqual([['WRITES_REFUSED', 'safe']]);
});

test('a node that may only read any more may flush: that is no way to write', () => {
  const writes = logOf(
    ...[
      opened,
      write(4_900, 1, 0),
      at(29_000, 1, writeOps.cut),
      at(29_010, 1, writeOps.flushBegin),
    ],
    ...[at(30_000, 2, writeOps.open), write(30_500, 2, 0)],
  );
  expect(exposureOf(story(), { writes }).summary).toEqual({
    ms: 0,
    bytesVictim: 0,
    bytesSuccessor: 0,
  });
});

test('a late cut is the end of the exposure', () => {
  const writes = logOf(
    opened,
    write(30_000, 2, 0),
    write(35_000, 1, 0),
    at(40_000, 1, writeOps.cut),
  );
  expect(exposureOf(story(), { writes }).summary).toMatchObject({ ms: 10_000, blocksBoth: 1 });
});

test('a write after the cut makes the run incomplete: the disk leaks', () => {
  const writes = logOf(opened, at(29_000, 1, writeOps.cut), write(29_500, 1, 0));
  const findings = diskFindings(story(), exposureOf(story(), { writes }), nothingElse);
  expect(findings.map(({ code, level }) => [code, level])).toEqual([['DISK_LEAKS', 'incomplete']]);
});

test('while its link is severed a path is shut; what it held counts at the heal', () => {
  const stalled = story({ fault: { link: 'stalls' } });
  const writes = logOf(
    opened,
    at(1050, 1, writeOps.link, { flags: linkFlags.stall }),
    write(1900, 1, 12_288),
    write(30_000, 2, 0),
    at(50_000, 1, writeOps.link, { flags: linkFlags.pass }),
    write(50_001, 1, 0),
    at(55_000, 1, writeOps.close),
  );
  const exposure = exposureOf(stalled, { writes });
  expect(exposure).toMatchObject({ handoverAtMs: 30_000, from: 50_000, to: 55_000 });
  expect(exposure.summary).toMatchObject({ ms: 5000, bytesVictim: 4096, blocksBoth: 1 });
  expect(linkCertificates(stalled, exposure.marks)).toMatchObject([{ holds: true }]);
  expect(linkCertificates(stalled, exposureOf(stalled, { writes: logOf(opened) }).marks)).toEqual([
    expect.objectContaining({ holds: false }),
  ]);
});

test('a path that fails each request is cut until it passes again', () => {
  const failing = story({ fault: { link: 'errors' } });
  const writes = logOf(
    opened,
    at(1050, 1, writeOps.link, { flags: linkFlags.fail }),
    // It was under way.
    write(1060, 1, 12_288),
    write(30_000, 2, 0),
    at(50_000, 1, writeOps.link, { flags: linkFlags.pass }),
    at(55_000, 1, writeOps.close),
  );
  expect(exposureOf(failing, { writes })).toMatchObject({ from: 50_000, to: 55_000 });
  const neverBack = logOf(
    opened,
    at(1050, 1, writeOps.link, { flags: linkFlags.fail }),
    write(30_000, 2, 0),
    at(40_000, 1, writeOps.close),
    at(50_000, 1, writeOps.link, { flags: linkFlags.pass }),
  );
  expect(exposureOf(failing, { writes: neverBack }).summary.ms).toBe(0);
});

test('a shared directory that locks exposes nothing until two databases have it open', () => {
  const mounts = [
    see(500, observed.mounted, 'a'),
    see(30_000, observed.mounted, 'b'),
    see(57_000, observed.serverLog, 'b', { line: 'mysqld: ready for connections.' }),
  ];
  const shared = story({ disk: { mode: 'shared-file' } }, ...mounts);
  const waited = exposureOf(shared, { lastVictimAckMs: 54_000 });
  expect(waited).toMatchObject({ handoverAtMs: 57_000, summary: { ms: 0 } });
  expect(exposureOf(shared, { lastVictimAckMs: 60_000 }).summary.ms).toBe(3000);
  const local = story({ disk: { mode: 'shared-file', fileLocks: 'local' } }, ...mounts);
  expect(exposureOf(local)).toMatchObject({ handoverAtMs: 30_000, summary: { ms: 25_000 } });
});
