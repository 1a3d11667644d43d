import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { arrayAt, type PathStatus } from './array-client.ts';
import { monotonicMs } from './grpc.ts';
import { layoutOf } from './layout.ts';
import { PathWatcher, type WatchLine } from './watch.ts';

const root = mkdtempSync(join(tmpdir(), 'forcedetach-watch-'));
afterAll(() => rmSync(root, { recursive: true }));

const path: PathStatus = {
  ...{ volume: 'pv-1', node: 'w1', generation: 2, loop: 128, device: '/dev/loop128' },
  ...{ state: 'open', link: 'stall', held: 1, reads: 0, writes: 1, flushes: 0 },
  ...{ bytesWritten: 4096, bytesRead: 0, unflushedBytes: 0, openedNs: 0 },
  ...{ bound: true, claimed: true },
};

// A look took 13 s while eight databases started, and the bytes of its end had the time of its beginning.
test('what a slow array answers has the time of its answer', async () => {
  const lines: WatchLine[] = [];
  let answeredMs = Infinity;
  const status = async (): Promise<PathStatus[]> => {
    await sleep(20);
    answeredMs = monotonicMs();
    return [path];
  };
  const layout = layoutOf(root);
  const array = { ...arrayAt(layout.arraySocket), status };
  await new PathWatcher({ layout, array }, (line) => lines.push(line)).look();
  expect(lines.map(({ type }) => type)).toEqual(['written', 'link', 'held']);
  for (const line of lines) expect('monoMs' in line && line.monoMs).toBeGreaterThan(answeredMs);
});
