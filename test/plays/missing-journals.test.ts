/** A safe run on the model, and each of its files with one thing missing or moved: none stays safe. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { simBackend } from '../../lib/sim/backend.ts';
import { assembleVerdict } from '../../lib/judge/verdict/assemble.ts';
import { EvidenceError } from '../../lib/core/errors.ts';
import { runScenario } from '../../lib/run/run.ts';
import type { Verdict } from '../../lib/judge/verdict/verdict.ts';
import { findFrames, packFrame, type FrameHead, suffixes } from '../../lib/history/segment.ts';
import { openHistory } from '../../lib/history/reader.ts';
import { modelScenario, shortTimers } from '../support/model-run.ts';
import { mysql } from '../../lib/mysql/database.ts';

let folder: string;
/** By name of the segment, as the run wrote them. */
const files = new Map<string, Buffer>();

const pathOf = (segment: string): string => join(folder, 'history', segment + suffixes.frames);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'forcedetach-missing-'));
  const scenario = modelScenario({
    ...shortTimers,
    disk: { mode: 'fenced' },
    remedy: { kind: 'force-delete' },
    load: {
      ...shortTimers.load, // Fills more than one frame of a journal and of an image's rows.
      rate: 120,
    },
  });
  await runScenario({
    ...{
      database: mysql,
      scenario,
      seed: '1',
      runId: 'run',
      folder,
      backend: simBackend(),
      replay: 'none',
    },
    onProgress: () => undefined,
    onPhase: () => undefined,
    signal: new AbortController().signal,
  });
  for (const file of readdirSync(join(folder, 'history'))) {
    const segment = file.slice(0, -suffixes.frames.length);
    files.set(segment, readFileSync(pathOf(segment)));
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Frame {
  readonly head: FrameHead;
  /** Of the head and what is behind it. */
  readonly bytes: Buffer;
}

function framesOf(segment: string): Frame[] {
  const file = files.get(segment) ?? Buffer.alloc(0);
  const { frames } = findFrames(file.length, (offset, length) =>
    file.subarray(offset, offset + length),
  );
  let start = 0;
  return frames.map(({ offset, head }) => ({
    head,
    bytes: file.subarray(start, (start = offset + head.bytes)),
  }));
}

interface Change {
  readonly what: string;
  /** Undefined: the file is gone. */
  readonly frames: readonly Frame[] | undefined;
}

function* changesOf(segment: string): Generator<Change> {
  const frames = framesOf(segment);
  yield { what: 'gone', frames: undefined };
  for (const [n, frame] of frames.entries()) {
    yield { what: `without frame ${n}`, frames: frames.toSpliced(n, 1) };
    yield { what: `frame ${n} twice`, frames: frames.toSpliced(n, 0, frame) };
    yield { what: `truncated before frame ${n}`, frames: frames.slice(0, n) };
    const next = frames[n + 1];
    if (next === undefined) continue;
    yield { what: `frames ${n} and ${n + 1} swapped`, frames: frames.toSpliced(n, 2, next, frame) };
  }
}

/** With its last frame of records gone, and an end that fits what is left. */
function resealed(segment: string): Change {
  const left = framesOf(segment).slice(0, -2);
  const chain = left.at(-1)?.head.chain;
  const records = left.reduce((sum, { head }) => sum + head.count, 0);
  const small = left.reduce((sum, { head }) => sum + head.small, 0);
  const counts = { records, small, frames: left.length };
  const end = chain === undefined ? counts : { ...counts, chain };
  const about = { first: records, count: 0, small: 0, minUs: 0, maxUs: 0, end };
  const head = { ...about, bytes: 0 };
  const { packed } = packFrame(Buffer.alloc(0), about, chain);
  return { what: 'ended anew', frames: [...left, { head, bytes: packed }] };
}

/** As report.mjs judges it: what is damaged is left out. */
function verdictNow(): Verdict {
  try {
    return assembleVerdict(openHistory(folder), { database: mysql });
  } catch (error) {
    if (codeOf(error) !== 'HISTORY_DAMAGED') throw error;
    return assembleVerdict(openHistory(folder, { salvage: true }), { database: mysql });
  }
}

const codeOf = (error: unknown): string | undefined =>
  error instanceof EvidenceError ? error.code : undefined;

/** Whether it is an error instead: nothing says any more whose run it was. */
function isNoRun(): boolean {
  try {
    verdictNow();
    return false;
  } catch (error) {
    return codeOf(error) === 'HISTORY_EMPTY';
  }
}

/** Judges the run with that change, and takes it back. */
function changed<T>(segment: string, { frames }: Change, judge: () => T): T {
  const path = pathOf(segment);
  try {
    if (frames === undefined) rmSync(path);
    else writeFileSync(path, Buffer.concat(frames.map(({ bytes }) => bytes)));
    return judge();
  } finally {
    writeFileSync(path, files.get(segment) ?? '');
  }
}

test('as it was written it is safe and complete, and ends with the list of its segments', () => {
  expect(verdictNow()).toMatchObject({ verdict: 'safe', incompleteBecause: [] });
  const history = openHistory(folder);
  const last = [...history.records()].at(-1);
  expect(last?.type === 'segments' ? Object.keys(last.segments).toSorted() : []).toEqual(
    [...files.keys()].filter((segment) => segment !== 'run').toSorted(),
  );
  for (const segment of ['writer-inside', 'rows-second']) {
    expect(framesOf(segment).length, segment).toBeGreaterThan(2);
  }
});

test.each(
  ['run', 'rows-steady', 'rows-first', 'rows-second'].concat(
    ['inside', 'outside'].flatMap((client) => [`writer-${client}`, `reads-${client}`]),
  ),
)(
  '%s with a frame missing, moved or doubled is inconclusive, and can be read',
  (segment) => {
    const changes = [...changesOf(segment), ...(segment === 'run' ? [] : [resealed(segment)])];
    for (const change of changes) {
      changed(segment, change, () => {
        expect(() => [...openHistory(folder, { salvage: true }).records()]).not.toThrow();
        if (segment === 'run' && isNoRun()) return;
        const { verdict, incompleteBecause } = verdictNow();
        expect(verdict, change.what).toBe('inconclusive');
        expect(incompleteBecause.join('\n'), change.what).toContain(segment);
      });
    }
  },
  120_000,
);
