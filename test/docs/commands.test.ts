/** Every command of the docs does what its page says of it: run as a dry run, on the model, or held to its form. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubernetesObject } from '@kubernetes/client-node';
import { afterAll, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { Runner } from '../fuzz/runner.ts';
import { commandsOf, pages, read, root } from './pages.ts';

interface Answer {
  readonly code: number | undefined;
  readonly output: string;
}

const folder = mkdtempSync(join(tmpdir(), 'forcedetach-docs-'));
const runner = new Runner(folder, root);
afterAll(async () => {
  await runner[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});
let number = 0;

/** Runs a line of the docs as it stands, with words added, in a warm process; of what a pipe joins, the first. */
async function run(line: string, ...added: string[]): Promise<Answer> {
  const [first = ''] = line.split(' | ');
  const [, program, command = '', ...words] = first.split(/\s+/);
  const start =
    program === 'zx' ? { command, words } : { command: bin, words: [command, ...words] };
  const args = [...start.words, ...added];
  const result = await runner.run({ command: start.command, args, number: number++ });
  return { code: result?.code ?? 0, output: `${result?.stdout}${result?.stderr}` };
}

const examples = pages.flatMap((page) => commandsOf(page).map((line) => ({ page, line })));
const bin = 'bin/forcedetach.mjs';
const ours = examples.filter(({ line }) => /^npx (zx|forcedetach) /.test(line));

/** Tools that are no experiments know no dry run. */
const isTool = (line: string): boolean =>
  /^npx forcedetach (?!run |matrix|replay)|\/(sweep|false-alarms)\.mjs/.test(line);

const flagsOf = (line: string): string[] => line.split(' | ')[0]?.match(/(?<= )--[a-z-]+/g) ?? [];

const lines = [...Map.groupBy(ours, ({ line }) => line)].map(([line, each]) => ({
  line,
  page: each.map((one) => one.page).join(', '),
}));

test.each(lines)('$page: $line', async ({ line }) => {
  const dryRun = line.includes('--dry-run') ? [] : ['--dry-run'];
  const asked = isTool(line) ? ['--help'] : dryRun;
  const { code, output } = await run(line, ...asked);
  // Help is shown whatever stands beside --help.
  if (isTool(line)) for (const flag of flagsOf(line)) expect(output).toContain(flag);
  // Where no engine answers, an example for kind must fail for this reason alone.
  const noEngine = line.includes('--cluster kind') && output.includes('ENGINE_MISSING');
  expect({ code, output }).toMatchObject({ code: noEngine ? 4 : 0 });
});

/** What they print needs no cluster; that one takes it is tested by test/full/probe.test.ts. */
const piped = lines.filter(({ line }) => line.endsWith(' -f -'));

test.each(piped)('kubectl is given whole objects: $line', async ({ line }) => {
  expect(line).toMatch(/ \| kubectl (apply|delete) -f -$/);
  const { output } = await run(line);
  const objects = parseAllDocuments(output).map((each) => each.toJS() as KubernetesObject);
  expect(objects.length).toBeGreaterThan(2);
  for (const { apiVersion, kind, metadata } of objects) {
    expect([apiVersion, kind, metadata?.name]).not.toContain(undefined);
  }
});

// Three whole runs with the timers of Kubernetes.
test('the first prediction comes to what its page says', { timeout: 120_000 }, async () => {
  const told = commandsOf('docs/tutorials/first-prediction.md').filter((line) =>
    line.includes('network-partition.mjs'),
  );
  const words: (string | undefined)[] = [];
  for (const [index, line] of told.entries()) {
    const { output } = await run(line, '--out', join(folder, `told-${index}`), '--json');
    words.push(/"verdict": "(\w+)"/.exec(output)?.[1]);
  }
  expect(words).toEqual(['corrupt', 'safe', 'safe']);
});

const kubectl = examples.filter(({ line }) => line.includes('kubectl '));

test('the checks of a cluster at risk only read', () => {
  const page = 'docs/how-to/is-my-cluster-at-risk.md';
  const checks = kubectl.filter((each) => each.page === page).map(({ line }) => line);
  expect(checks.length).toBeGreaterThan(5);
  for (const line of checks) {
    expect(line).toMatch(/^kubectl (-n \S+ )?get /);
    expect(line).not.toMatch(/[>;&`$]\(|;|&&/);
  }
});

test('the runbook deletes nothing, and its taint can be taken away again', () => {
  const page = 'docs/how-to/lost-node.md';
  const steps = kubectl.filter((each) => each.page === page).map(({ line }) => line);
  const changes = steps.filter((line) => !line.startsWith('kubectl get '));
  const [set, away] = changes.map((line) => line.replace(/^kubectl taint nodes "\$NODE" /, ''));
  expect(changes).toHaveLength(2);
  expect(away).toBe(`${set?.split('=')[0]}-`);
});

test('the page of a stuck volume changes one finalizer, and only reads before', () => {
  const page = 'docs/how-to/stuck-volume.md';
  const steps = kubectl.filter((each) => each.page === page).map(({ line }) => line);
  const changes = steps.filter((line) => !/^kubectl (get|describe) /.test(line));
  expect(steps.length).toBeGreaterThan(6);
  expect(changes).toEqual([
    `kubectl patch volumeattachment "$VA" --type=merge -p '{"metadata":{"finalizers":null}}'`,
  ]);
});

const other = examples.filter(({ line }) => !/^npx (zx|forcedetach) |kubectl /.test(line));

test('every other command is one that is known', () => {
  const scripts = Object.keys(
    (JSON.parse(read('package.json')) as { scripts: Record<string, string> }).scripts,
  );
  const known = new RegExp(
    `^(npm (ci|test|run (${scripts.join('|')}))\\b|npx vitest run |git clone (--depth 1 )?https://|\\(?cd forcedetach$|npm install \\./forcedetach/|docker (tag|push) |(NODE|PV|NS|CLAIM|HANDLE|VA)=|(FORCEDETACH_\\w+=('[^']*'|\\S+) )+(npx node scripts/ci\\.ts|npm run)|npx node scripts/)`,
  );
  expect(other.map(({ line }) => line).filter((line) => !known.test(line))).toEqual([]);
});
