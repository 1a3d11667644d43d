import { expect, test } from 'vitest';
import { modelScenario } from '../../../test/support/model-run.ts';
import { play } from '../../sweep/play.ts';
import { notices } from '../sightings.ts';

/** From the first time a node was not Ready until its pod is deleted, by the toleration of 300 s. */
function evictedAfterMs(alsoAt: number, seed: string): { restartedMs: number; evictedMs: number } {
  const scenario = modelScenario({ also: { kind: 'controller-restart', at: alsoAt, for: 1000 } });
  const { trace, faultAtUs } = play(scenario, seed);
  const sinceMs = (notice: number, afterMs = 0): number => {
    const at = trace.codes.findIndex(
      (code, n) => code === notice && (trace.timesUs[n] ?? 0) - faultAtUs > afterMs * 1000,
    );
    return ((trace.timesUs[at] ?? NaN) - faultAtUs) / 1000;
  };
  const notReadyMs = sinceMs(notices.nodeNotReady);
  const restartedMs = sinceMs(notices.controllerEnded) - notReadyMs;
  const leadsMs = sinceMs(notices.controllerLeads, notReadyMs);
  return { restartedMs, evictedMs: sinceMs(notices.podTerminating) - leadsMs };
}

test('a leader that began between the two taints sets the second at its first pass', () => {
  const between: number[] = [];
  for (let seed = 0; seed < 600; seed++) {
    // As the first run of the seed, up to the moment of the restart.
    const { restartedMs, evictedMs } = evictedAfterMs(48_000 + (seed % 120) * 100, String(seed));
    if (restartedMs > 15 && restartedMs < 200) between.push(evictedMs);
  }
  expect(between.length).toBeGreaterThan(0);
  expect(Math.max(...between)).toBeLessThan(330_000);
});
