import { expect, test } from 'vitest';
import { modelScenario } from '../../test/support/model-run.ts';
import { play } from './play.ts';

const seeds = Array.from({ length: 20 }, (_, n) => String(n));

test('an overlap of 3 s costs commits, as it does with the runner’s client', () => {
  const scenario = modelScenario({
    disk: { mode: 'ack-early', cutAfter: 3000 },
    remedy: { kind: 'force-delete', at: 'terminating' },
  });
  const lost = seeds.filter((seed) => {
    const { first, second } = play(scenario, seed);
    return first.lost + second.lost > 0 || first.unreadable || second.unreadable;
  });
  // The runner's client loses in 10 of 10.
  expect(lost.length).toBeGreaterThanOrEqual(18);
});

test('a fence need not meet a commit that the server still holds in memory', () => {
  const scenario = modelScenario({
    disk: { mode: 'reservation' },
    database: { trxCommit: 0 },
    remedy: { kind: 'force-delete' },
    load: { rate: 1 },
  });
  const lost = seeds.filter((seed) => play(scenario, seed).first.lost > 0);
  expect(lost.length).toBeGreaterThan(0);
  expect(lost.length).toBeLessThan(seeds.length);
});

test('what waits in a frozen machine’s buffers is no commit where its sidecar ends the server first', () => {
  const scenario = modelScenario({
    fault: { kind: 'freeze' },
    remedy: { kind: 'force-delete' },
    // On a device its pages would go over the successor's.
    disk: { mode: 'shared-file', fileLocks: 'local' },
    selfFence: { kind: 'lease-read-only', after: 40_000 },
  });
  const lost = seeds.filter((seed) => play(scenario, seed).second.lost > 0);
  // A commit that was under way at the freeze goes on at the thaw.
  expect(lost.length).toBeGreaterThan(0);
  expect(lost.length).toBeLessThan(seeds.length);
});

test('nobody commits on a victim that the database moved to before the fault', () => {
  const scenario = modelScenario({
    fault: { kind: 'network-partition', link: 'stalls' },
    database: { trxCommit: 2 },
    // Shorter than a kubelet is silent around the steady copy.
    timers: { grace: 500, toleration: 0 },
    load: { rate: 5 },
  });
  const lost = seeds.filter((seed) => play(scenario, seed).first.lost > 0);
  expect(lost.length).toBeGreaterThan(0);
  expect(lost.length).toBeLessThan(seeds.length);
});
