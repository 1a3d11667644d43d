/** What pipelines run, on the model instead of hosted machines: shards, their judgement, a scenario. */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { smallMatrix } from '../test/support/small-matrix.ts';

const root = join(import.meta.dirname, '..');
const workspace = mkdtempSync(join(tmpdir(), 'forcedetach-ci-'));
afterAll(() => rmSync(workspace, { recursive: true }));
const [summary, outputs] = ['summary.md', 'outputs'].map((name) => join(workspace, name));
writeFileSync(join(workspace, 'small.yaml'), smallMatrix);

function ci(task: string, given: Readonly<Record<string, string>> = {}): Promise<number> {
  const fields = Object.entries(given).map(([name, value]) => [`FORCEDETACH_${name}`, value]);
  const env = {
    ...{ ...process.env, GITHUB_WORKSPACE: workspace, FORCEDETACH_FLAGS: '--cluster sim' },
    ...{ GITHUB_STEP_SUMMARY: summary, GITHUB_OUTPUT: outputs, ...Object.fromEntries(fields) },
  };
  return new Promise((resolve) => {
    execFile(process.execPath, ['scripts/ci.ts', task], { cwd: root, env }, (error) =>
      resolve(error === null ? 0 : Number(error.code)),
    );
  });
}

const said = (): string => readFileSync(summary ?? '', 'utf8');
const told = (): string => readFileSync(outputs ?? '', 'utf8');
beforeEach(() => {
  for (const file of [summary, outputs]) writeFileSync(file ?? '', '');
});

test('two shards of a matrix, judged together', async () => {
  // One cell is a race, which may be counted too rarely: then the batch is open.
  const [FAIL_ON, where] = ['unexpected,inconclusive', { SHARDS: '2', FOLDER: 'out' }];
  const shards = { ...where, FAIL_ON, SEED: 'one', NAME: 'Kubernetes 1.36' };
  expect(await ci('shards', shards)).toBe(0);
  expect(told()).toBe('shards=[1,2]\n');
  for (const SHARD of ['1/2', '2/2']) {
    expect(await ci('run', { ...shards, MATRIX: 'small.yaml', SHARD })).toBe(0);
  }
  expect(await ci('judge', shards)).toBe(0);
  expect(said()).toMatch(/^## Kubernetes 1\.36\n\n### (EXPECTED|OPEN): small/);
  expect(told()).toMatch(/verdict=(expected|open)\noutcome=\1\nreport=out\/batch\/report\.html\n$/);
  expect(existsSync(join(workspace, 'out/batch/report.html'))).toBe(true);

  const batch = join(workspace, 'out/shard-2/batch.json');
  const text = readFileSync(batch, 'utf8');
  writeFileSync(batch, text.replaceAll('"asExpected": true', '"asExpected": false'));
  expect(await ci('judge', shards)).toBe(1);
  expect(await ci('judge', { ...shards, FAIL_ON: 'inconclusive, open' })).toBe(0);
  writeFileSync(batch, text.replaceAll('"holds": true', '"holds": false'));
  expect(await ci('judge', shards)).toBe(3);
  expect(await ci('judge', { ...shards, FAIL_ON: 'unexpected' })).toBe(0);

  writeFileSync(batch, text);
  renameSync(batch, `${batch}.gone`);
  expect(await ci('judge', shards)).toBe(3);
  expect(said()).toContain('1 of 2 shards left nothing.');
});

test('a scenario, and every outcome that may fail the job', async () => {
  const SCENARIO = join(root, 'experiments/schedules/reboot-at-force-detach.yaml');
  expect(await ci('run', { SCENARIO })).toBe(0);
  expect(await ci('judge')).toBe(0);
  const file = join(workspace, 'reports/ci/shard-1/verdict.json');
  const { verdict, ...rest } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  expect(told()).toBe(
    `verdict=${String(verdict)}\noutcome=expected\nreport=reports/ci/shard-1/report.html\n`,
  );
  const outcome = async (change: object): Promise<number> => {
    writeFileSync(file, JSON.stringify({ ...rest, verdict, asExpected: false, ...change }));
    return ci('judge');
  };
  expect(await outcome({})).toBe(1);
  expect(await outcome({ verdict: 'inconclusive' })).toBe(3);
  expect(await outcome({ open: true })).toBe(5);
  expect(await ci('judge', { FAIL_ON: 'never' })).toBe(0);
});

test('where nothing came there is nothing to judge', async () => {
  expect(await ci('judge', { SHARDS: '2', FOLDER: 'none' })).toBe(4);
  expect(said()).toBe('## forcedetach\n\n2 of 2 shards left nothing.\n');
});

test('what makes no sense is refused', async () => {
  expect(await ci('run', { MATRIX: 'none.yaml', SHARD: '3/3' })).toBe(2);
  expect(await ci('run')).toBe(2);
  expect(await ci('run', { MATRIX: 'small.yaml', SCENARIO: 'small.yaml' })).toBe(2);
  expect(await ci('judge', { FAIL_ON: 'sometimes' })).toBe(2);
  expect(await ci('shards', { SHARDS: '0' })).toBe(2);
  expect(await ci('pray')).toBe(2);
});
