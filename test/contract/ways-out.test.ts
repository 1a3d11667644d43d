/** However a run is ended, as a real process on the model: it heals, and says why it ended. */
import { existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openHistory } from '../../lib/history/reader.ts';
import { inTerminal, spawnRun, type SpawnedRun } from '../support/spawned-run.ts';

const watching = 'remedy, and watch';

/** The fault was given back, and an error record has that text. */
async function expectHealed({ folder, ended, stderr }: SpawnedRun, why: string): Promise<void> {
  const { code, signal } = await ended;
  expect({ code, signal }, stderr()).toEqual({ code: 3, signal: null });
  expectHealedIn(folder, why);
}

function expectHealedIn(folder: string, why: string | RegExp): void {
  const records = [...openHistory(folder).records()];
  const steps = records.flatMap((record) =>
    record.type === 'action' && record.actor === 'fault' ? record.step : [],
  );
  expect(steps).toEqual(['begin', 'done', 'heal', 'healed']);
  const errors = records.flatMap((record) => (record.type === 'error' ? record.message : []));
  const reasons = errors.flatMap(
    (message) => /INTERRUPTED: ended by (.*)/.exec(message)?.[1] ?? [],
  );
  expect(reasons.length).toBeGreaterThan(0);
  for (const reason of reasons) expect(reason).toMatch(why);
}

test.each(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const)('%s', async (name) => {
  const run = spawnRun();
  await run.printed(watching);
  run.kill(name);
  await expectHealed(run, name);
});

test('a closed terminal', async () => {
  const run = inTerminal();
  await run.printed(watching);
  run.closeTerminal();
  await expect
    .poll(() => existsSync(join(run.folder, 'verdict.json')), { timeout: 30_000 })
    .toBe(true);
  // Whichever comes first.
  expectHealedIn(run.folder, /^SIGHUP$|can no longer be written \(EIO\)/);
});

test('nobody reads stderr any more', async () => {
  const run = spawnRun();
  await run.printed(watching);
  run.closeReader('stderr');
  await expectHealed(run, 'stderr can no longer be written (EPIPE)');
});

test.each(['throw', 'Promise.reject'])('an uncaught exception: %s', async (how) => {
  const thrown = how === 'throw' ? 'throw new Error("lost")' : 'Promise.reject(new Error("lost"))';
  // SIGUSR2 is the moment: the test waits for the watch.
  const code = `process.on("SIGUSR2", () => { setTimeout(() => { ${thrown} }, 1) })`;
  const preload = [`data:text/javascript,${encodeURIComponent(code)}`];
  const run = spawnRun('network-partition', { preload });
  await run.printed(watching);
  run.kill('SIGUSR2');
  await expectHealed(run, 'an uncaught exception: lost');
  expect(run.stderr()).toContain('Uncaught exception: Error: lost\n    at');
});

const quick = ['--cluster', 'sim', '--disk', 'fenced'];

test('a reader of stdout that is gone takes nothing away', async () => {
  const run = spawnRun('network-partition', { flags: quick });
  run.closeReader('stdout');
  expect(await run.ended, run.stderr()).toEqual({ code: 0, signal: null });
  expect(run.stderr()).not.toContain('    at ');
});

test('an answer that a full disk did not take is a failure', async () => {
  const run = spawnRun('network-partition', { flags: quick, stdout: openSync('/dev/full', 'w') });
  expect(await run.ended, run.stderr()).toEqual({ code: 4, signal: null });
  expect(run.stderr()).not.toContain('    at ');
});
