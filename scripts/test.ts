/**
 * `npm test`: runs each group of tests whose needs are met, prints what it skips and why, and ends with
 * the failed tests and `N passed, N failed`. `--cluster` runs the many whole plays of the
 * model and the other tests on clusters instead, `--full` adds them and the long runs. With CI=true a skip is a failure.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { $ } from '../lib/kind/engine/shell.ts';
import { version } from '../lib/kind/engine/commands.ts';
import { noCounts, readCounts, strict, sum, summaryLine, type Counts } from './test-counts.ts';

interface Need {
  /** Undefined when it is met; else what is missing. */
  readonly missing: () => Promise<string | undefined>;
  readonly mend: string;
}

const chromium: Need = {
  missing: async () => {
    const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser'];
    return places.some((place) => existsSync(place)) ? undefined : 'Chromium is not installed';
  },
  mend: 'apt-get install chromium',
};
const root: Need = {
  missing: async () => (process.getuid?.() === 0 ? undefined : 'they need root'),
  mend: 'sudo npm test',
};
const engine: Need = {
  missing: async () => {
    const answer = await $({ nothrow: true, quiet: true, timeout: '20s' })`${version()}`;
    return answer.exitCode === 0 ? undefined : 'no Docker engine answers';
  },
  mend: 'sudo .ci/setup',
};

interface Group {
  /** Of the project in vitest.config.ts. */
  readonly name: string;
  readonly folder?: string;
  readonly needs: readonly Need[];
  /** One test at a time: they measure, or share a cluster. */
  readonly sequential?: boolean;
}

const onClusters = { needs: [root, engine], sequential: true } as const;
const quick: readonly Group[] = [
  { name: 'unit', needs: [] },
  { name: 'browser', folder: 'test/browser', needs: [chromium] },
  { name: 'thin', folder: 'test/thin', ...onClusters },
];
const cluster: readonly Group[] = [
  { name: 'plays', needs: [] },
  { name: 'cluster', folder: 'test/cluster', ...onClusters },
  { name: 'ended', folder: 'test/ended', needs: [root, engine] },
];
const long: readonly Group[] = [
  { name: 'full', folder: 'test/full', ...onClusters },
  { name: 'research', folder: 'research', ...onClusters },
];

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Each file of a skipped group counts as one skipped test. */
async function runGroup(group: Group): Promise<Counts> {
  const { name, folder, needs, sequential = false } = group;
  const files = folder === undefined ? 1 : testFiles(folder);
  if (files === 0) return noCounts;
  for (const { missing, mend } of needs) {
    const why = await missing();
    if (why === undefined) continue;
    say(`SKIPPED: ${files} files of ${name} tests, since ${why} (mend it with: ${mend})`);
    return { ...noCounts, skipped: files };
  }
  return runVitest(['--project', name, ...(sequential ? ['--no-file-parallelism'] : [])]);
}

function testFiles(folder: string): number {
  if (!existsSync(folder)) return 0;
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter((file) => file.endsWith('.test.ts')).length;
}

async function runVitest(flags: readonly string[]): Promise<Counts> {
  const folder = mkdtempSync(join(tmpdir(), 'forcedetach-test-'));
  const output = join(folder, 'counts.json');
  const reporters = ['--reporter=default', '--reporter=./scripts/test-counts.ts'];
  const vitest = 'node_modules/vitest/vitest.mjs';
  const env = { ...process.env, TEST_COUNTS: output };
  const run = $({ nothrow: true, stdio: ['ignore', 'inherit', 'inherit'], env });
  try {
    const { exitCode } = await run`${process.execPath} ${vitest} run ${flags} ${reporters}`;
    return readCounts(existsSync(output) ? readFileSync(output, 'utf8') : '', exitCode);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function wantedGroups(): readonly Group[] {
  if (process.argv.includes('--full')) return [...quick, ...cluster, ...long];
  return process.argv.includes('--cluster') ? cluster : quick;
}

let counts = noCounts;
for (const group of wantedGroups()) counts = sum(counts, await runGroup(group));
const verdict = process.env['CI'] === 'true' ? strict(counts) : counts;
for (const failure of verdict.failures) say(failure);
say(summaryLine(verdict));
process.exitCode = verdict.failed === 0 && verdict.passed > 0 ? 0 : 1;
