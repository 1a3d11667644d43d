/** `kubectl detach-probe`, and a Job that is printed: what the file on the PATH does, as a process. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const { bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly bin: Readonly<Record<string, string>>;
};

const plugin = (...args: string[]): Promise<{ readonly code: number; readonly output: string }> =>
  new Promise((resolve) => {
    const file = join(root, bin['kubectl-detach_probe'] ?? '');
    execFile(process.execPath, [file, ...args], (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr });
    });
  });

test('it is the probe, and says how it is typed', async () => {
  const { code, output } = await plugin('--help');
  expect({ code, output }).toMatchObject({ code: 0 });
  expect(output).toContain('Usage: kubectl detach-probe');
  expect((await plugin('--foo')).output).toContain('try:  kubectl detach-probe --help');
});

test('a class may be called as the probe’s own file is', async () => {
  const { output } = await plugin('-s', 'probe', '--print-job', '--image', 'x:1');
  expect(output).toContain('kind: Job');
  expect(output).toContain('- probe\n            - --storage-class\n            - probe\n');
});

test('a Job needs an image, and a cut its confirmation', async () => {
  expect(await plugin('-s', 'fast', '--print-job')).toMatchObject({
    ...{ code: 2, output: expect.stringContaining('NO_JOB_IMAGE') },
  });
  const cut = ['-s', 'fast', '--cut', 'a', '--image', 'x:1', '--print-job'];
  expect((await plugin(...cut)).output).toContain('CUT_NOT_CONFIRMED');
  const { output } = await plugin(...cut, '--yes', 'a', '--remedy', 'out-of-service');
  expect(output).toContain('resourceNames:\n      - a\n');
  const evicted = await plugin(...cut, '--yes', 'a', '--remedy', 'eviction');
  expect(evicted.output).toMatch(/- eviction\n +- --heal-after\n +- 900s\n/);
});
