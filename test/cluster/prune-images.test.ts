/** Old images go, the newest and those in use stay. Of a part that nobody else has. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { $ } from '../../lib/kind/engine/shell.ts';
import { partLabel } from '../../lib/kind/images/part.ts';
import { pruneImages } from '../../lib/kind/images/ensure.ts';

const part = 'prune-test';
const refs = ['oldest', 'used', 'old', 'newest'].map((tag) => `forcedetach/${part}:${tag}`);
const container = 'forcedetach-prune-test';
const emptyTar = Buffer.alloc(1024);
const run = $({ quiet: true });

beforeAll(async () => {
  for (const ref of refs) {
    const changes = [`LABEL ${partLabel}=${part}`, 'CMD ["/none"]'];
    const flags = changes.flatMap((change) => ['--change', change]);
    await run({ input: emptyTar })`docker import ${flags} - ${ref}`;
    // The engine tells ages apart by the second.
    await sleep(1100);
  }
  await run`docker create --name ${container} forcedetach/${part}:used`;
});
afterAll(async () => {
  await run({ nothrow: true })`docker rm ${container}`;
  await run({ nothrow: true })`docker image rm ${refs}`;
});

test('the newest image of a part stays, and one that a container uses', async () => {
  expect(await pruneImages([part])).toEqual([
    `forcedetach/${part}:old`,
    `forcedetach/${part}:oldest`,
  ]);
  expect(await pruneImages([part])).toEqual([]);
});
