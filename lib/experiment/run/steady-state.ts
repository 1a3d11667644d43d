/** Before anything is broken, both clients commit, and all that serves is there. */
import type { Writers } from '../../workload/port.ts';
import { EvidenceError } from '../../errors.ts';
import { bothCommit } from './both-clients.ts';
import type { Run } from './run-context.ts';
import { waitUntil } from './wait.ts';

const withinMs = 60_000;

/** Resolves when that has been so for a while, and its image is kept. */
export async function reachSteadyState(
  { testbed, scenario, steps }: Run,
  writers: Writers,
  signal: AbortSignal,
): Promise<void> {
  const { clock } = testbed;
  const isReady = (): boolean =>
    (scenario.rate === 0 || bothCommit(writers)) && (steps.isWhole?.() ?? true);
  const deadlineMs = clock.nowMs() + withinMs;
  if (!(await waitUntil(clock, isReady, { deadlineMs, signal }))) {
    const what = 'a client committed nothing in 60 s, or not every server was there';
    throw new EvidenceError('NO_STEADY_STATE', what);
  }
  await clock.sleep(scenario.warmupMs, signal);
  await steps.image('steady', signal);
}
