/** However a run on kind is ended, in each of its phases: the fault is healed and the machine in order. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { $ } from '../../lib/kind/engine/shell.ts';
import {
  brokenOn,
  clean,
  cluster,
  endedBy,
  firstTimeoutMs,
  hungUpIn,
  kept,
  quick,
  timeoutMs,
  watching,
} from '../ended/ended-run.ts';
import { startExperiment } from '../cluster/experiment.ts';
import { leaseOf, stateOf } from '../cluster/machine-state.ts';

afterAll(clean, timeoutMs);

test.each([
  ['heal', /— heal/, ['--remedy', 'none', '--horizon', '1s']],
  ['steady', /— steady state/, []],
  ['first-image', /— first image/, ['--remedy', 'none', '--horizon', '1s']],
  ['converge', /— converge/, ['--remedy', 'none', '--horizon', '1s']],
  ['audit', /— audit both images/, ['--remedy', 'none', '--horizon', '1s']],
] as const)('SIGHUP in the phase %s', { timeout: firstTimeoutMs }, hungUpIn);

test('nobody reads its progress any more', { timeout: timeoutMs }, async () => {
  const run = startExperiment('network-partition', kept);
  await run.printed(watching);
  const lease = await leaseOf(cluster);
  // It writes a line at the latest when its remedy acts.
  const ended = await endedBy(run, run.closeReader);
  expect(ended.errors).toContain('stderr can no longer be written (EPIPE)');
  expect(await brokenOn(lease)).toEqual([]);
});

test('a hanging engine', { timeout: 20 * 60_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fd-bin-'));
  const hangs = join(folder, 'hangs');
  const { stdout: real } = await $({ quiet: true })`command -v docker`;
  const script = `#!/bin/sh\n[ ! -e ${hangs} ] || exec sleep 100000\nexec ${real.trim()} "$@"\n`;
  writeFileSync(join(folder, 'docker'), script, { mode: 0o755 });
  try {
    const env = { PATH: `${folder}:${process.env['PATH'] ?? ''}` };
    const run = startExperiment('network-partition', quick, { env });
    await run.printed(watching);
    const lease = await leaseOf(cluster);
    writeFileSync(hangs, '');
    const ended = await endedBy(run, () => run.signal('SIGINT'));
    process.stderr.write(`SIGINT with a hanging engine: ended after ${ended.endedS} s\n`);
    // The sum of what every step has after an interrupt (moments.ts).
    expect(ended.endedS).toBeLessThan(400);
    expect(ended.stderr).toContain('NOT HEALED or left behind: heal: NODE_NOT_HEALED');
    const ip = String.raw`\d+\.\d+\.\d+\.\d+`;
    const command = new RegExp(
      `docker network connect --ip ${ip} fd-${cluster} fd-${cluster}-worker`,
    );
    expect(ended.stderr).toMatch(command);
    rmSync(hangs);
    await clean();
    expect(await stateOf(cluster, lease)).toEqual({});
  } finally {
    if (existsSync(folder)) rmSync(folder, { recursive: true });
  }
});
