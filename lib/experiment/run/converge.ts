/** After the heal: wait until databases serve again, take the remedy back, the node is Ready, and all is whole. */
import type { Clock } from '../../clock.ts';
import type { BreakableTestbed, PodRef } from '../../cluster/port.ts';
import type { Writers } from '../../workload/port.ts';
import { registrationMs } from '../waits.ts';
import type { RemedyRun } from './remedy-run.ts';
import type { Struck } from './struck.ts';
import { waitUntil } from './wait.ts';
import type { Sightings } from './sightings.ts';

interface ConvergeContext {
  readonly cluster: BreakableTestbed;
  /** At least one. */
  readonly struck: readonly Struck[];
  readonly remedies: readonly RemedyRun[];
  readonly signal: AbortSignal;
}

/** Clients go on so long after servers that count each other are whole again. */
const settleMs = 5_000;

/** An outside client of each database commits again, and at most one node has its volume. */
export async function converge(context: ConvergeContext): Promise<void> {
  const { cluster, struck, remedies, signal } = context;
  const { clock } = cluster;
  const [first] = struck;
  if (first === undefined) return;
  const { scenario, victim } = first;
  const deadlineMs = clock.nowMs() + scenario.convergeMs;
  await Promise.all(struck.map((run) => serving(run, { clock, deadlineMs, signal })));
  if (scenario.untaintAt === 'kept') await sleepUntil(clock, deadlineMs, signal);
  for (const remedy of remedies) await remedy.takeBack();
  if (scenario.fault === 'node-crash' && !scenario.reboot) return;
  await isReady(context, victim, Math.max(deadlineMs, clock.nowMs() + registrationMs));
  await Promise.all(struck.map((run) => isWhole(run, { clock, deadlineMs, signal })));
}

interface Bounds {
  readonly clock: Clock;
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
}

async function serving(run: Struck, { clock, deadlineMs, signal }: Bounds): Promise<void> {
  const { scenario, sightings, recorder, writers, victim, onProgress } = run;
  const converged = servesAgain({
    victim,
    isLeaving: sightings.victimTerminating || sightings.victimGone,
    isIdle: scenario.rate === 0,
    acked: () => writers.acked(),
    sightings,
  });
  const recovered = await waitUntil(clock, converged, { deadlineMs, signal });
  onProgress(recovered ? 'converged' : 'did not converge');
  if (recovered)
    recorder.record({ type: 'action', actor: 'runner', name: 'converge', step: 'done' });
}

/** Asked only where servers say so; who stays away is told in the verdict. */
async function isWhole(
  { steps, onProgress }: Struck,
  { clock, deadlineMs, signal }: Bounds,
): Promise<void> {
  if (steps.isWhole === undefined) return;
  const whole = await waitUntil(clock, () => steps.isWhole?.() === true, { deadlineMs, signal });
  onProgress(whole ? 'all servers are back' : 'not all servers are back');
  await clock.sleep(settleMs, signal);
}

const sleepUntil = (clock: Clock, atMs: number, signal: AbortSignal): Promise<void> =>
  clock.sleep(Math.max(0, atMs - clock.nowMs()), signal);

async function isReady(
  { cluster, struck, signal }: ConvergeContext,
  victim: PodRef,
  deadlineMs: number,
): Promise<void> {
  const { clock, kubernetes } = cluster;
  // A connection that ends under load is no answer, and no reason to end the run: ask again.
  const ask = (): Promise<boolean> => kubernetes.isReady(victim.node).catch(() => false);
  if (await ask()) return;
  const mostS = Math.round((deadlineMs - clock.nowMs()) / 1000);
  for (const { onProgress } of struck) {
    onProgress(`waiting for ${victim.node} to be Ready, ${mostS} s at most`);
  }
  do await clock.sleep(1000, signal);
  while (!(await ask()) && clock.nowMs() < deadlineMs);
}

/** After the heal: does somebody serve who will go on serving? */
interface ServingContext {
  readonly victim: PodRef;
  /** The old pod was removed or evicted: it will be stopped, and what it still serves is its last. */
  readonly isLeaving: boolean;
  /** An idle workload commits nothing; then the mounts alone tell. */
  readonly isIdle: boolean;
  readonly acked: Writers['acked'];
  readonly sightings: Pick<Sightings, 'mountedOn' | 'cameBack'>;
}

/**
 * Asked again and again from the heal on: whether an outside client got a commit from a database that
 * stays, and at most one node has the volume. A zombie that is reached again serves for some seconds,
 * until its kubelet hears that the pod is gone; that is no recovery.
 */
export function servesAgain(context: ServingContext): () => boolean {
  const { victim, isLeaving, isIdle, acked, sightings } = context;
  const outside = (onVictim: boolean): number =>
    acked()
      .filter(({ client, node }) => client === 'outside' && (node === victim.node) === onVictim)
      .reduce((sum, { count }) => sum + count, 0);
  const othersBefore = outside(false);
  /** What the victim's node had served when the old pod was no longer on it, or no longer alone. */
  let victimBefore: number | undefined;

  return () => {
    const hasLeft = !isLeaving || sightings.cameBack || !sightings.mountedOn.has(victim.node);
    if (hasLeft) victimBefore ??= outside(true);
    const byVictim = victimBefore !== undefined && outside(true) > victimBefore;
    const serves = isIdle ? hasLeft : byVictim || outside(false) > othersBefore;
    return serves && sightings.mountedOn.size <= 1;
  };
}
