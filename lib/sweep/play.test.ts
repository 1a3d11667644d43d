import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { sweepKey, scheduleAt } from './schedule.ts';
import { play } from './play.ts';

setFlagsFromString('--expose-gc');
// Where the young generation was small for long, which is a matter of time, V8 guesses that rows grow old.
setFlagsFromString('--no-allocation-site-pretenuring');
const gc = runInNewContext('gc') as (options: { type: 'minor' }) => void;

function oldKiB(): number {
  gc({ type: 'minor' });
  gc({ type: 'minor' });
  const old = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space');
  return (old?.space_used_size ?? Number.NaN) / 1024;
}

function playAll(from: number, count: number): void {
  for (let index = from; index < from + count; index++) {
    const { scenario, seed } = scheduleAt({ seed: 'g', key: sweepKey('g'), corpus: [] }, index);
    play(scenario, seed);
  }
}

test('what a schedule leaves is taken away by the next scavenge: none of it grows old', () => {
  const count = 400;
  // Until the engine has compiled most of it.
  playAll(0, count);
  const before = oldKiB();
  playAll(count, count);
  expect((oldKiB() - before) / count).toBeLessThan(8);
});
