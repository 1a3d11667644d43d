/** After the heal: wait until a database serves again, take the remedy back, the node is Ready, and all is whole. */
import type { Clock } from '../../cluster/clock.ts';
import type { PodRef } from '../../cluster/port.ts';
import type { Writers } from '../../workload/port.ts';
import type { RemedyRun } from './remedy-run.ts';
import type { Run } from './run-context.ts';
import { servesAgain } from './serving.ts';
import { waitUntil } from './wait.ts';

export interface ConvergeContext extends Run {
  readonly writers: Writers;
  readonly victim: PodRef;
  readonly remedy: RemedyRun;
}

/** A kubelet that starts when the remedy is taken back is Ready within this time. */
const registrationMs = 60_000;
/** Clients go on so long after servers that count each other are whole again. */
const settleMs = 5_000;

/** An outside client commits again, and at most one node has the volume. */
export async function converge(context: ConvergeContext): Promise<void> {
  const { testbed, scenario, sightings, recorder, writers, victim, remedy, signal } = context;
  const { clock } = testbed;
  const converged = servesAgain({
    victim,
    isLeaving: sightings.victimTerminating || sightings.victimGoneAtMs !== undefined,
    isIdle: scenario.rate === 0,
    acked: () => writers.acked(),
    sightings,
  });
  const deadlineMs = clock.nowMs() + scenario.convergeMs;
  const recovered = await waitUntil(clock, converged, { deadlineMs, signal });
  context.onProgress(recovered ? 'converged' : 'did not converge');
  if (recovered)
    recorder.record({ type: 'action', actor: 'runner', name: 'converge', step: 'done' });
  if (scenario.untaintAt === 'kept') await sleepUntil(clock, deadlineMs, signal);
  await remedy.takeBack();
  if (scenario.fault === 'node-crash' && !scenario.reboot) return;
  await isReady(context, Math.max(deadlineMs, clock.nowMs() + registrationMs));
  await isWhole(context, deadlineMs);
}

/** Asked only where servers say so; who stays away is told in the verdict. */
async function isWhole(
  { testbed: { clock }, steps, onProgress, signal }: ConvergeContext,
  deadlineMs: number,
): Promise<void> {
  if (steps.isWhole === undefined) return;
  const whole = await waitUntil(clock, () => steps.isWhole?.() === true, { deadlineMs, signal });
  onProgress(whole ? 'all servers are there again' : 'not all servers are there again');
  await clock.sleep(settleMs, signal);
}

const sleepUntil = (clock: Clock, atMs: number, signal: AbortSignal): Promise<void> =>
  clock.sleep(Math.max(0, atMs - clock.nowMs()), signal);

async function isReady(
  { testbed, victim, signal }: ConvergeContext,
  deadlineMs: number,
): Promise<void> {
  const { clock, kubernetes } = testbed;
  // A connection that ends under load is no answer, and no reason to end the run: ask again.
  const ask = (): Promise<boolean> => kubernetes.isReady(victim.node).catch(() => false);
  while (!(await ask()) && clock.nowMs() < deadlineMs) {
    await clock.sleep(1000, signal);
  }
}
