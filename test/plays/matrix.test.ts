/** A whole batch on the model, as a user starts it: outputs, exit codes, going on after a kill. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { batchSchema, type Batch } from '../../lib/batch/batch.ts';
import { batchExitCode } from '../../lib/batch/summarize.ts';
import { smallMatrix } from '../support/small-matrix.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const zx = join(root, 'node_modules/zx/build/cli.js');
const folder = mkdtempSync(join(tmpdir(), 'forcedetach-matrix-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Answer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const matrix = (...words: readonly string[]): Promise<Answer> =>
  started([zx, 'experiments/matrix.mjs', ...words, '--cluster', 'sim']);
const merge = (...folders: readonly string[]): Promise<Answer> =>
  started(['bin/forcedetach.mjs', 'merge-batches', ...folders]);

function started(args: readonly string[]): Promise<Answer> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: root }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

/** A whole batch, in a process of its own. */
const limit = { timeout: 120_000 };

const file = join(folder, 'small.yaml');
writeFileSync(file, smallMatrix);

const batchIn = (out: string): Batch =>
  batchSchema.parse(JSON.parse(readFileSync(join(out, 'batch.json'), 'utf8')));

test('a batch leaves its outputs, and goes on where it was cut short', limit, async () => {
  const out = join(folder, 'batch');
  const words = [file, '--seed', 'three', '--out', out];
  const first = await matrix(...words, '--json', '--reports', 'unexpected');
  expect(first.stderr).toMatch(
    /3 of 3 controls hold; a silent loss of [\d,]+ of [\d,]+ commits was seen; 1 of 1 reruns alone agree/,
  );
  const batch = batchIn(out);
  // A race that was counted too rarely is open.
  expect(['expected', 'open']).toContain(batch.verdict);
  expect(first.code).toBe(batchExitCode(batch));
  expect(batchSchema.parse(JSON.parse(first.stdout))).toEqual(batch);
  expect(batch.cells.map(({ verdict }) => verdict)).toEqual([
    expect.stringMatching('lost|corrupt'),
    'safe',
  ]);
  expect(batch.differences).toMatchObject([{ axis: 'disk', from: 'unfenced', to: 'fenced' }]);
  expect(batch.basis).toBe('predicted');
  expect(readFileSync(join(out, 'summary.md'), 'utf8')).toMatch(
    /\| disk unfenced \| (lost|corrupt)/,
  );
  const page = readFileSync(join(out, 'report.html'), 'utf8');
  expect(page).toContain('class="square safe"');
  expect(page.match(/<script/g)).toHaveLength(1);
  expect(page).not.toMatch(/https?:\/\/(?!www\.w3\.org)/);

  const results = join(out, 'results.jsonl');
  truncateSync(results, readFileSync(results).lastIndexOf('{"type":"attempt"') + 30);
  const second = await matrix(...words, '--reports', 'unexpected');
  expect(second.stderr).toMatch(
    /continuing: 5 of 6 trials are done\n.*was cut short: running it again/,
  );
  const again = batchIn(out);
  expect(again.cells).toEqual(batch.cells);
  expect(readdirSync(join(out, 'cells'))).toHaveLength(6);

  const other = await matrix(file, '--seed', 'two', '--out', out);
  expect({ code: other.code, said: other.stderr }).toMatchObject({
    code: 2,
    said: expect.stringContaining('BATCH_CHANGED') as string,
  });
});

const report = (path: string): Promise<Answer> => started(['bin/forcedetach.mjs', 'report', path]);

/** One cell's run in the place of the other's. */
function swapRuns(out: string): void {
  const [a, b] = ['01-unfenced.1', '02-fenced.1'].map((run) => join(out, 'cells', run));
  if (a === undefined || b === undefined) return;
  renameSync(a, `${a}-aside`);
  renameSync(b, a);
  renameSync(`${a}-aside`, b);
}

function flip(path: string): void {
  const bytes = readFileSync(path);
  const middle = bytes.indexOf('"acked": ') + 10;
  bytes[middle] = (bytes[middle] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

test.each<[string, (out: string) => void, RegExp]>([
  ['is there', () => undefined, /^(EXPECTED|OPEN) — /],
  [
    'has a verdict of its file altered',
    (out) => flip(join(out, 'batch.json')),
    /^BATCH_ALTERED: .*batch\.json was changed after its batch wrote it/,
  ],
  [
    'has two runs swapped',
    swapRuns,
    /^BATCH_ALTERED: .*01-unfenced\.1\/verdict\.json is not the verdict that its batch counted/,
  ],
  [
    'has a bit of a verdict flipped',
    (out) => flip(join(out, 'cells/02-fenced.1/verdict.json')),
    /^BATCH_ALTERED: .*02-fenced\.1\/verdict\.json is not .*\n {2}hint: .*\n.*report/,
  ],
  [
    'lacks a run',
    (out) => rmSync(join(out, 'cells/02-fenced.1'), { recursive: true }),
    /^NOT CHECKED — 1 of its runs/,
  ],
])('a batch that %s', limit, async (_, alter, told) => {
  const out = join(folder, `altered-${randomUUID()}`);
  cpSync(join(folder, 'batch'), out, { recursive: true });
  alter(out);
  const { code, stdout, stderr } = await report(out);
  const isWhole = /^(EXPECTED|OPEN)/.test(stdout);
  expect(stdout + stderr).toMatch(told);
  expect(code).toBe(isWhole ? batchExitCode(batchIn(out)) : 3);
  if (isWhole) return;
  const merged = await merge(`${out}-merged`, out);
  expect(merged).toMatchObject({
    code: 3,
    stderr: expect.stringMatching('BATCH_ALTERED') as string,
  });
});

test('a batch is not continued over another run', limit, async () => {
  const out = join(folder, 'continued');
  cpSync(join(folder, 'batch'), out, { recursive: true });
  swapRuns(out);
  const words = [file, '--seed', 'three', '--out', out];
  expect(await matrix(...words)).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('BATCH_ALTERED') as string,
  });
});

test(
  'a history in the place of the one that a verdict was made from is not judged',
  limit,
  async () => {
    const [run, other] = ['01-unfenced.1', '02-fenced.1'].map((name) =>
      join(folder, 'batch/cells', name),
    );
    const out = join(folder, 'another-history');
    cpSync(run ?? '', out, { recursive: true });
    const before = await report(out);
    expect(before.stderr).not.toContain('HISTORY_REPLACED');
    rmSync(join(out, 'history'), { recursive: true });
    cpSync(join(other ?? '', 'history'), join(out, 'history'), { recursive: true });
    const verdict = readFileSync(join(out, 'verdict.json'), 'utf8');
    const { code, stderr } = await report(out);
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr: expect.stringMatching(/^HISTORY_REPLACED: .*its run\.hist had the SHA-256/) as string,
    });
    expect(readFileSync(join(out, 'verdict.json'), 'utf8')).toBe(verdict);
  },
);

test('shards run apart and merged are the batch', limit, async () => {
  const words = [file, '--seed', 'three', '--reports', 'unexpected'];
  const whole = batchIn(join(folder, 'batch'));
  const shards = ['1/2', '2/2'].map((shard) => join(folder, shard.replace('/', '-')));
  for (const out of shards) {
    const shard = out.slice(-3).replace('-', '/');
    const { code } = await matrix(...words, '--shard', shard, '--out', out);
    expect(code).toBe(batchExitCode(batchIn(out)));
  }
  const out = join(folder, 'merged');
  const { code, stdout } = await merge(out, ...shards);
  const merged = batchIn(out);
  const line = merged.verdict.toUpperCase();
  expect({ code, line: stdout.split(' ')[0] }).toEqual({ code: batchExitCode(merged), line });
  expect(merged.controls).toHaveLength(6);
  expect(merged.differences).toEqual(whole.differences);
  expect(merged.cells.map((cell) => ({ ...cell, runs: cell.runs.length }))).toEqual(
    whole.cells.map((cell) => ({ ...cell, runs: cell.runs.length })),
  );
  expect(merged.cells[0]?.runs[0]?.folder).toBe('../1-2/cells/01-unfenced.1');
  const twice = await merge(`${out}-twice`, ...shards, ...shards);
  expect(twice.stderr).toMatch(/^SHARDS_DIFFER: .*is in two of them/);

  const older = join(folder, '2-2-older');
  await matrix(...words, '--shard', '2/2', '--kubernetes', '1.36', '--out', older);
  const mixed = join(folder, 'mixed');
  const refused = await merge(mixed, shards[0] ?? '', older);
  expect(refused.stderr).toMatch(
    /^SHARDS_DIFFER: .*ran on Kubernetes 1\.36 and 1\.37\n {2}hint: .*--kubernetes/,
  );
  expect(refused.code).toBe(2);
  expect(existsSync(mixed)).toBe(false);
});
