/** The experiment files as a user starts them: what they expect, what they leave, how they end. */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { exitCodeOf, verdictSchema } from '../../lib/judge/verdict/verdict.ts';
import { Runner } from '../fuzz/runner.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const zx = join(root, 'node_modules/zx/build/cli.js');
const folder = mkdtempSync(join(tmpdir(), 'forcedetach-experiments-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Answer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const experiment = (name: string, args: string, node?: string): Promise<Answer> =>
  start(`experiments/${name}.mjs`, args, node);

function start(program: string, args: string, node = process.execPath): Promise<Answer> {
  const words = [zx, program, ...args.split(' ').filter(Boolean)];
  return new Promise((resolve) => {
    execFile(node, words, { cwd: root }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

/** In a process that is warm already. */
const runner = new Runner(folder, root);
afterAll(() => runner[Symbol.asyncDispose]());

test('the seed is printed first, and a dry run creates nothing', async () => {
  const out = join(folder, 'dry');
  const { stdout } = await experiment(
    'node-crash',
    `--cluster sim --seed 0x1F --out ${out} --dry-run`,
  );
  expect(stdout.split('\n')[0]).toBe('seed 0x1F');
  expect(existsSync(out)).toBe(false);
});

test('with --json stdout is for JSON alone, and a dry run has none', async () => {
  const { code, stdout, stderr } = await experiment(
    'node-crash',
    '--cluster sim --seed 0x1F --json --dry-run',
  );
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  expect(stderr).toMatch(/^seed 0x1F\n[^]*\ndry run: nothing was created\n$/);
});

// A whole run and two more processes.
test('a run leaves its outputs, and its report is rebuilt byte for byte', {
  timeout: 120_000,
}, async () => {
  const out = join(folder, 'run');
  const flags = `--cluster sim --rate 10 --seed test --json --out ${out}`;
  const { code, stdout, stderr } = await experiment('network-partition', flags);
  const verdict = verdictSchema.parse(JSON.parse(stdout));
  expect(verdict).toMatchObject({ basis: 'predicted', cluster: 'sim', seed: 'test' });
  expect(code).toBe(exitCodeOf(verdict));
  expect(stderr).toContain('— prediction by the built-in model, not a measurement');

  const names = ['report.html', 'verdict.json', 'junit.xml', 'summary.md'];
  const outputs = (): string[] => names.map((name) => readFileSync(join(out, name), 'utf8'));
  const before = outputs();
  for (const name of names) rmSync(join(out, name));
  expect((await experiment('report', out)).code).toBe(code);
  expect(outputs().map((text, index) => text === before[index])).toEqual(names.map(() => true));

  const again = await experiment('network-partition', flags);
  expect(again.code).toBe(2);
  expect(again.stderr).toContain('OUT_NOT_EMPTY');
});

const olderNode = (process.env['PATH'] ?? '')
  .split(delimiter)
  .filter((path) => !path.includes('node_modules'))
  .concat('/usr/bin', '/usr/local/bin')
  .map((path) => join(path, 'node'))
  .find((path) => existsSync(path));

test.skipIf(olderNode === undefined)('runs under the machine’s own Node', async () => {
  const { code, stdout } = await experiment('node-crash', '--cluster sim --dry-run', olderNode);
  expect({ code, seed: stdout.startsWith('seed ') }).toEqual({ code: 0, seed: true });
});

test.each([
  ['8 --run reports/samples/node-crash', 0, /^8\. .*: as expected$/m],
  ['8 2 --run reports/samples/node-crash', 3, /^8\. .*: as expected$/m],
  ['--run reports/samples/node-crash', 0, /^8\. .*: as expected$/m],
  ['8 --dry-run --cluster-name ../x', 2, /^$/],
])('claims %s ends with %d', async (flags, exit, says) => {
  const { code, stdout } = await start('research/claims.mjs', flags);
  expect(code).toBe(exit);
  expect(stdout).toMatch(says);
});
