/** Histories that were cut short or damaged: inconclusive, and the report shows what there is. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { $ } from '../../lib/kind/engine/shell.ts';
import type { Verdict } from '../../lib/judge/verdict/verdict.ts';
import { findFrames, unpackFrame, suffixes } from '../../lib/history/segment.ts';

const sample = 'reports/samples/node-crash';
const history = (folder: string, file: string): string => join(folder, 'history', file);

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'forcedetach-half-'));
  cpSync(join(sample, 'history'), join(folder, 'history'), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true }));

interface Rebuilt {
  readonly code: number | null;
  readonly stderr: string;
}

async function rebuild(): Promise<Rebuilt> {
  const { exitCode, stderr } = await $({
    nothrow: true,
    quiet: true,
  })`node experiments/report.mjs ${folder}`;
  return { code: exitCode, stderr };
}

const verdict = (): Verdict =>
  JSON.parse(readFileSync(join(folder, 'verdict.json'), 'utf8')) as Verdict;
const page = (): string => readFileSync(join(folder, 'report.html'), 'utf8');

/** As a kill -9 leaves it: what was not yet packed into a frame stands in the tail, line by line. */
function killAfter(share: number): void {
  const bytes = readFileSync(history(folder, 'run.hist'));
  const { frames } = findFrames(bytes.length, (offset, length) =>
    bytes.subarray(offset, offset + length),
  );
  const lines = Buffer.concat(
    frames.map(({ head, offset }) => unpackFrame(bytes.subarray(offset, offset + head.bytes))),
  );
  const kept = lines.subarray(0, Math.floor(lines.length * share));
  writeFileSync(history(folder, `run${suffixes.frames}`), '');
  writeFileSync(
    history(folder, `run${suffixes.tail}`),
    `{"first":0}\n${kept.toString('latin1')}`,
    'latin1',
  );
}

test.each([0.005, 0.2, 0.6, 0.97])('killed after %f of the run’s records', async (share) => {
  killAfter(share);
  const { code, stderr } = await rebuild();
  expect({ code, stderr }).toEqual({ code: 3, stderr: '' });
  expect(verdict()).toMatchObject({ verdict: 'inconclusive', complete: false });
  expect(verdict().incompleteBecause.join('\n')).toContain('the history is cut');
  expect(page()).toContain('this run proves nothing');
});

test('a damaged frame: what can be read is shown, and nothing is concluded from it', async () => {
  const files = readdirSync(join(folder, 'history')).filter((file) => file.startsWith('writer-'));
  const file = history(folder, files.find((each) => each.endsWith('.hist')) ?? 'none');
  const bytes = readFileSync(file);
  const middle = Math.floor(bytes.length / 2);
  bytes.set([0xde, 0xad, 0xbe, 0xef], middle);
  writeFileSync(file, bytes);
  const { code, stderr } = await rebuild();
  expect(code).toBe(3);
  expect(stderr).toContain('HISTORY_DAMAGED');
  expect(stderr).toContain('The report shows what can still be read.');
  expect(verdict()).toMatchObject({ verdict: 'inconclusive', lost: null, images: [] });
  expect(verdict().incompleteBecause.join('\n')).toContain('"within":"damage"');
  expect(page()).toContain('NodeStageVolume');
});

test('no room for the history: the run heals, ends inconclusive, and its report can be made', async () => {
  const out = join(folder, 'full');
  // What a file may hold is limited, as on a full disk; without the trap the signal would kill.
  const script = `trap '' XFSZ; ulimit -f 60; exec node experiments/network-partition.mjs "$@"`;
  const words = ['--cluster', 'sim', '--seed', 'full', '--out', out];
  const run = await $({ nothrow: true, quiet: true })`bash -c ${script} bash ${words}`;
  expect(run.stderr).toContain('HISTORY_UNWRITABLE');
  expect(run.stderr).toContain('npx forcedetach report');
  expect(run.exitCode).toBe(3);
  const rebuilt = await $({ nothrow: true, quiet: true })`node experiments/report.mjs ${out}`;
  expect(rebuilt.stdout).toMatch(/^INCONCLUSIVE /);
});
