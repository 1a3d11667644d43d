import { expect, test } from 'vitest';
import { taintRate, zoneState } from './zone-limits.ts';

test.each([
  // A control plane and two workers, as every cluster here: one or two lost workers change nothing.
  [2, 1, 'normal', 0.1],
  [1, 2, 'normal', 0.1],
  [0, 3, 'all lost', 0],
  // Three lost workers of three: no further node is tainted.
  [1, 3, 'partly lost', 0],
  [3, 3, 'normal', 0.1],
  [2, 3, 'partly lost', 0],
  [20, 30, 'partly lost', 0],
  [20, 31, 'partly lost', 0.01],
  [46, 55, 'normal', 0.1],
])('%d ready and %d lost: %s, %d nodes/s', (ready, lost, state, rate) => {
  expect([zoneState(ready, lost), taintRate(ready, lost)]).toEqual([state, rate]);
});
