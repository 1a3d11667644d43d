import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { buildStep } from './ensure.ts';

test('an abort ends what is being built', async () => {
  const cache = mkdtempSync(join(tmpdir(), 'fd-cache-'));
  onTestFinished(() => rmSync(cache, { recursive: true, force: true }));
  const end = new AbortController();
  const mark = `4${Date.now()}`;
  const step = { name: 'base', ref: `forcedetach/none:${mark}`, commands: [`sleep ${mark}`] };
  const options = { root: cache, cache, onProgress: () => undefined, signal: end.signal };
  const building = buildStep(step, options);
  const log = join(cache, 'logs', `forcedetach-none-${mark}.log`);
  const begun = (): boolean =>
    readFileSync(log, { flag: 'a+', encoding: 'utf8' }).includes('sleep');
  await expect.poll(begun, { timeout: 20_000 }).toBe(true);
  const beganMs = performance.now();
  end.abort(new Error('enough'));
  await expect(building).rejects.toThrow('enough');
  expect(performance.now() - beganMs).toBeLessThan(5000);
  // The lock is free again: nothing of it runs.
  const next = { ...step, commands: ['true'] };
  await buildStep(next, { ...options, signal: undefined });
});
