/** After the heal: wait until databases serve again, take the remedy back, the node is Ready, and all is whole. */
import type { BreakableTestbed } from './ports/cluster.ts';
import type { PodRef } from '../history/index.ts';
import type { Writers } from './workload/port.ts';
import { registrationMs } from '../scenario/index.ts';
import type { RemedyRun } from './remedy-run.ts';
import type { Struck } from './run-context.ts';
import type { Shell } from './shell.ts';
import type { Sightings } from '../judge/index.ts';
import { waitUntil } from './wait.ts';

interface ConvergeContext {
  readonly cluster: BreakableTestbed;
  /** At least one. */
  readonly struck: readonly Struck[];
  readonly shell: Shell;
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
  const comes = (condition: () => boolean): Promise<boolean> =>
    waitUntil(clock, condition, { deadlineMs, signal });
  await Promise.all(struck.map((run) => serving(run, comes)));
  if (scenario.untaintAt === 'kept') {
    await clock.sleep(Math.max(0, deadlineMs - clock.nowMs()), signal);
  }
  for (const remedy of remedies) await remedy.takeBack();
  if (scenario.fault === 'node-crash' && !scenario.reboot) return;
  await isReady(context, victim.node, Math.max(deadlineMs, clock.nowMs() + registrationMs));
  await Promise.all(
    struck.map(async ({ steps, onProgress }) => {
      // Only where servers count each other; who stays away is in the verdict.
      if (steps.isWhole === undefined) return;
      const whole = await comes(() => steps.isWhole?.() === true);
      onProgress(whole ? 'all servers are back' : 'not all servers are back');
      await clock.sleep(settleMs, signal);
    }),
  );
}

async function serving(
  { scenario, sightings, recorder, writers, victim, onProgress }: Struck,
  comes: (condition: () => boolean) => Promise<boolean>,
): Promise<void> {
  const converged = servesAgain({
    victim,
    isLeaving: sightings.victimTerminating || sightings.victimGone,
    isIdle: scenario.rate === 0,
    acked: () => writers.acked(),
    sightings,
  });
  const recovered = await comes(converged);
  onProgress(recovered ? 'converged' : 'did not converge');
  if (recovered)
    recorder.record({ type: 'action', actor: 'runner', name: 'converge', step: 'done' });
}

async function isReady(
  { cluster, shell, signal }: ConvergeContext,
  node: string,
  deadlineMs: number,
): Promise<void> {
  const { clock, kubernetes } = cluster;
  // A connection that ends under load is no answer, and no reason to end the run: try again.
  const ready = (): Promise<boolean> => kubernetes.isReady(node).catch(() => false);
  if (await ready()) return;
  const mostS = Math.round((deadlineMs - clock.nowMs()) / 1000);
  shell.onProgress(`waiting for ${node} to be Ready, ${mostS} s at most`);
  do await clock.sleep(1000, signal);
  while (!(await ready()) && clock.nowMs() < deadlineMs);
}

/** After the heal: does somebody serve who will go on serving? */
interface ServingContext {
  readonly victim: PodRef;
  /** The old pod was removed or evicted: it will be stopped, and what it still serves is its last. */
  readonly isLeaving: boolean;
  /** An idle workload commits nothing; then the mounts alone count. */
  readonly isIdle: boolean;
  readonly acked: Writers['acked'];
  readonly sightings: Pick<Sightings, 'mountedOn' | 'cameBack'>;
}

/**
 * Again and again from the heal on: whether an outside client got a commit from a database that
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
