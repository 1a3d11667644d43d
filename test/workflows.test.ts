/** The workflows are pinned, may do nothing, and call nothing but scripts of this repository. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { $ } from 'zx';
import { kubernetesReleases } from '../lib/kubernetes-versions.ts';

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
      'timeout-minutes': z.number().max(90),
      steps: z.array(z.object({ uses: z.string().optional(), run: z.string().optional() })),
    }),
  ),
});

/** Before a command: what gives it root and our Node. */
const asRoot = 'sudo --preserve-env env "PATH=$PATH" ';

test('there are two', () => {
  expect(files.toSorted()).toEqual(['ci.yml', 'nightly.yml']);
});

describe.each(files)('%s', (file) => {
  const workflow = workflowSchema.parse(parse(read(file)));
  const steps = Object.values(workflow.jobs).flatMap((job) => job.steps);

  test('every action is pinned by commit, with its version beside it', () => {
    const uses = steps.filter((step) => step.uses !== undefined);
    const pinned =
      read(file).match(/uses: actions\/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/gm) ?? [];
    expect(pinned).toHaveLength(uses.length);
    expect(uses.length).toBeGreaterThan(1);
  });

  test('it runs scripts of this repository only, and puts nothing of an event into a command', () => {
    const commands = steps.flatMap(({ run }) => (run === undefined ? [] : [run]));
    expect(commands.length).toBeGreaterThan(0);
    for (const command of commands) {
      expect(command).not.toMatch(/\n.|\$\{\{|[;&|]/);
      const words = command.replace(asRoot, '').split(' ');
      if (words[0] === 'npm') expect(words[1]).toBe('ci');
      else
        expect(
          existsSync(join(root, words[0] === 'node' ? (words[1] ?? '') : (words[0] ?? ''))),
        ).toBe(true);
    }
  });
});

test('every night measures the three minors that Kubernetes supports, and merges each', () => {
  const { jobs } = z
    .object({
      jobs: z.record(
        z.string(),
        z.object({
          strategy: z.object({ matrix: z.object({ kubernetes: z.array(z.string()) }) }),
        }),
      ),
    })
    .parse(parse(read('nightly.yml')));
  const supported = Object.keys(kubernetesReleases).slice(0, 3);
  expect(Object.keys(jobs)).toEqual(['shard', 'merge']);
  for (const { strategy } of Object.values(jobs)) {
    expect(strategy.matrix.kubernetes).toEqual(supported);
  }
});

const found = await $({ nothrow: true, quiet: true })`actionlint -version`;

// .ci/setup installs it: a machine without it can't lint.
test.skipIf(found.exitCode !== 0)('actionlint has nothing to say', async () => {
  const paths = files.map((file) => join(folder, file));
  const { exitCode, stdall } = await $({ nothrow: true, quiet: true })`actionlint ${paths}`;
  expect({ exitCode, stdall }).toEqual({ exitCode: 0, stdall: '' });
});
