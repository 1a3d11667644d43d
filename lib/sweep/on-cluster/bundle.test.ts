/** What a pod gets is enough: started as a pod is, in an empty folder, it plays its shard. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { parseResult, playShard, type ShardPlan } from './shard.ts';
import { bundleOf } from './run-shards.ts';

const folder = mkdtempSync(join(tmpdir(), 'forcedetach-bundle-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Threads and programs are slow to start where the machine is busy. */
const shards = [
  { from: 0, until: 40 },
  { from: 40_000, until: 40_040 },
];
const plan: ShardPlan = { seed: 'a', disk: 'fenced', shards };

test('the bundle runs by itself, fits a ConfigMap, and comes to the same lines', async () => {
  for (const [name, text] of Object.entries(await bundleOf(plan))) {
    writeFileSync(join(folder, name), text);
  }

  const { stdout } = await promisify(execFile)(process.execPath, ['pod.mjs', folder], {
    cwd: folder,
    env: { JOB_COMPLETION_INDEX: '1' },
  });
  expect(stdout.trim()).toBe((await playShard(plan, 1)).join('\n'));
  expect(parseResult(stdout, 'a', { from: 40_000, until: 40_040 }).tally.schedules).toBe(40);
});

test('the same code makes the same bundle', async () => {
  expect(await bundleOf(plan)).toEqual(await bundleOf(plan));
});
