/** The workflows are pinned, may do nothing, and call nothing but scripts of this repository. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { $ } from '../lib/kind/engine/shell.ts';
import { parseArguments } from '../lib/cli/command.ts';
import { checkProbeFlags, probeCommand } from '../lib/cli/commands/probe.ts';
import { settingsSchema } from '../scripts/ci-settings.ts';

const root = join(import.meta.dirname, '..');
const folder = join(root, '.github/workflows');
const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
const files = readdirSync(folder);

const workflowSchema = z.object({
  permissions: z.strictObject({}),
  jobs: z.record(
    z.string(),
    z.object({
      permissions: z.strictObject({ contents: z.literal('read') }),
      'timeout-minutes': z.number().max(90).optional(),
      /** A job that calls a workflow has none. */
      steps: z
        .array(z.object({ uses: z.string().optional(), run: z.string().optional() }))
        .default([]),
      uses: z.literal('./.github/workflows/measure.yml').optional(),
    }),
  ),
});

/** Before a command: what gives it root and our Node. */
const asRoot = 'sudo --preserve-env env "PATH=$PATH" ';

describe.each(files)('%s', (file) => {
  const jobs = Object.values(workflowSchema.parse(parse(read(file))).jobs);
  const steps = jobs.flatMap((job) => job.steps);

  test('every job calls the reusable workflow, or has steps and a bound', () => {
    for (const job of jobs) {
      expect(job.uses === undefined).toBe(job.steps.length > 0);
      expect(job.uses === undefined).toBe(job['timeout-minutes'] !== undefined);
    }
  });

  test('every action is pinned by commit, with its version beside it', () => {
    const uses = steps.filter((step) => step.uses !== undefined);
    const pinned =
      read(file).match(/uses: actions\/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/gm) ?? [];
    expect(pinned).toHaveLength(uses.length);
  });

  test('it runs scripts of this repository only, and puts nothing of an event into a command', () => {
    for (const { run } of steps) if (run !== undefined) expectOwnScript(run);
  });
});

/** Of an action, whose files are elsewhere than the caller's. */
const actionPath = '"$GITHUB_ACTION_PATH';

function expectOwnScript(command: string): void {
  expect(command).not.toMatch(/\n.|\$\{\{|[;&|]/);
  if (/^npm (--prefix "\$GITHUB_ACTION_PATH" )?ci /.test(command)) return;
  const [first = '', second = ''] = command.replace(asRoot, '').split(' ');
  const file = first === 'node' ? second : first;
  expect(file.replace(`${actionPath}/`, '').replace(/"$/, '')).toSatisfy((path: string) =>
    existsSync(join(root, path)),
  );
}

const stepSchema = z.object({
  uses: z.string().optional(),
  run: z.string().optional(),
  env: z.record(z.string(), z.string()).default({}),
});
const actionSchema = z.object({
  inputs: z.record(z.string(), z.object({ description: z.string(), default: z.string() })),
  outputs: z.record(z.string(), z.object({ value: z.string() })),
  runs: z.object({ using: z.literal('composite'), steps: z.array(stepSchema) }),
});

test('action.yml runs the same script, is pinned, and passes every input as a setting', () => {
  const text = readFileSync(join(root, 'action.yml'), 'utf8');
  const { inputs, outputs, runs } = actionSchema.parse(parse(text));
  const commands = runs.steps.flatMap(({ run }) => run ?? []);
  for (const command of commands) expectOwnScript(command);
  expect(commands.filter((command) => command.includes('ci.ts'))).toEqual(
    ['run', 'judge'].map((task) => `node ${actionPath}/scripts/ci.ts" ${task}`),
  );
  expect(text).toMatch(/uses: actions\/setup-node@[0-9a-f]{40} # v\d+\.\d+\.\d+$/m);
  const passed = runs.steps.flatMap(({ env }) => Object.entries(env));
  expect(passed.filter(([name]) => !(name in settingsSchema.shape))).toEqual([]);
  const used = passed.map(([, value]) => /^\$\{\{ inputs\.([a-z-]+) \}\}$/.exec(value)?.[1]);
  expect(new Set(used)).toEqual(new Set(Object.keys(inputs)));
  expect(Object.keys(outputs)).toEqual(['verdict', 'outcome', 'report']);
});

test('measure.yml passes its inputs as settings that the script knows', () => {
  const { jobs } = z
    .object({ jobs: z.record(z.string(), z.object({ steps: z.array(stepSchema) })) })
    .parse(parse(read('measure.yml')));
  const passed = Object.values(jobs).flatMap(({ steps }) =>
    steps.flatMap(({ env }) => Object.keys(env)),
  );
  expect(passed.length).toBeGreaterThan(8);
  expect(passed.filter((name) => !(name in settingsSchema.shape))).toEqual([]);
});

test('the example for drivers is pinned, and each of its commands is one that the probe takes', () => {
  const text = readFileSync(join(root, 'examples/driver-guard/workflow.yml'), 'utf8');
  const { jobs } = workflowSchema.parse(parse(text));
  const steps = Object.values(jobs).flatMap((job) => job.steps);
  for (const { uses } of steps) expect(uses ?? '@0').toMatch(/@0$|@[0-9a-f]{40}$/);
  const probes = steps.flatMap(
    ({ run }) => /npx forcedetach probe ([^|]+)/.exec(run ?? '')?.[1] ?? [],
  );
  const flags = probes.map((words) =>
    checkProbeFlags(
      parseArguments(
        probeCommand(),
        words.trim().replaceAll('"$EXPECT"', 'fenced').replaceAll('"', '').split(' '),
      ).opts(),
    ),
  );
  expect(flags).toMatchObject([
    { run: true, expect: ['fenced'], out: 'before.json' },
    { run: true, expect: ['fenced'], out: 'after.json' },
    { compare: ['before.json', 'after.json'] },
  ]);
});

const found = await $({ nothrow: true, quiet: true })`actionlint -version`;

/** Of the running job, since 2026: where a reusable workflow's own file is. actionlint 1.7.12 is older. */
const newer = 'property "workflow_(repository|sha)" is not defined';

// .ci/setup installs it: a machine without it can't lint.
test.skipIf(found.exitCode !== 0)('actionlint has nothing to say', async () => {
  const paths = [
    ...files.map((file) => join(folder, file)),
    join(root, 'examples/driver-guard/workflow.yml'),
  ];
  const { exitCode, stdall } = await $({
    nothrow: true,
    quiet: true,
  })`actionlint -ignore ${newer} ${paths}`;
  expect({ exitCode, stdall }).toEqual({ exitCode: 0, stdall: '' });
});
