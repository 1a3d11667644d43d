/** After the hand-over: the way back to the victim; after the heal: databases serve again and all is whole. */
import { EvidenceError } from '../core/index.ts';
import type { PodRef, Recorder } from '../history/index.ts';
import { type Sightings, recreation } from '../judge/index.ts';
import { waitUntil } from './moments.ts';
import type { BreakableTestbed, PodKubernetes } from './ports/cluster.ts';
import type { RemedyRun } from './remedies.ts';
import type { Struck } from './run-context.ts';
import type { Shell } from './shell.ts';
import type { Writers } from './workload.ts';
import { type Scenario, drainMs, recreationMs, registrationMs } from '../scenario/index.ts';

/**
 * The way back: after the hand-over the successor's node is drained, so that the pod has nowhere to go
 * but to the victim; then the victim is healed. Its old pod may not have been stopped yet, and the
 * volume is still mounted there as it was before the hand-over.
 */
type Drainable = Pick<BreakableTestbed, 'clock' | 'nodes'> & {
  readonly kubernetes: Pick<BreakableTestbed<'drain'>['kubernetes'], 'drain' | 'uncordon'>;
};

interface MoveBackContext {
  readonly testbed: Drainable;
  readonly recorder: Pick<Recorder, 'record'>;
  readonly sightings: readonly Sightings[];
  readonly victim: Pick<PodRef, 'node'>;
  readonly signal: AbortSignal;
}

/** Every other node is drained; resolves once none of them has a volume mounted. */
export async function moveBack(context: MoveBackContext): Promise<void> {
  const { testbed, recorder, sightings, victim, signal } = context;
  const { clock, kubernetes } = testbed;
  const step = (name: 'begin' | 'done'): void =>
    recorder.record({ type: 'action', actor: 'runner', name: 'move back', step: name });
  step('begin');
  for (const node of others(testbed, victim)) {
    // A drain that was begun after the run gave this up would take the nodes that the heal gives back.
    signal.throwIfAborted();
    await kubernetes.drain(node, drainMs);
  }
  const isEmpty = (): boolean =>
    sightings.every(({ mountedOn }) => [...mountedOn].every((node) => node === victim.node));
  const deadlineMs = clock.nowMs() + drainMs;
  if (!(await waitUntil(clock, isEmpty, { deadlineMs, signal }))) {
    throw new EvidenceError('NOT_MOVED_BACK', 'the successor’s node kept the volume mounted');
  }
  step('done');
}

/** Idempotent. */
export async function letOthersServe(
  testbed: Drainable,
  victim: Pick<PodRef, 'node'>,
): Promise<void> {
  for (const node of others(testbed, victim)) await testbed.kubernetes.uncordon(node);
}

const others = ({ nodes }: Drainable, victim: Pick<PodRef, 'node'>): string[] =>
  nodes.filter((node) => node !== victim.node);

interface RecreateContext extends MoveBackContext {
  readonly scenario: { readonly fault: Pick<Scenario['fault'], 'recreations'> };
  readonly victim: PodRef;
  readonly pods: Pick<PodKubernetes, 'databasePod' | 'deletePod' | 'forceDelete'>;
  readonly onProgress: (line: string) => void;
}

/**
 * Deletes the database's pod again and again on one node, in turn as usual and by force, and waits
 * each time until the next one is Ready. All other nodes are drained, so that it stays where it is.
 */
export async function recreate(context: RecreateContext): Promise<void> {
  const { scenario, pods, recorder, victim } = context;
  await moveBack(context);
  let pod = victim;
  for (let round = 0; round < scenario.fault.recreations; round++) {
    const isForced = round % 2 === 1;
    const about = {
      ...({ type: 'action', actor: 'runner', node: pod.node, detail: pod.uid } as const),
      name: isForced ? recreation.forced : recreation.plain,
    };
    recorder.record({ ...about, step: 'begin' });
    await (isForced ? pods.forceDelete(pod) : pods.deletePod(pod));
    pod = await nextReady(context, pod);
    recorder.record({ ...about, step: 'done' });
    context.onProgress(`pod ${round + 1} of ${scenario.fault.recreations} is Ready again`);
  }
}

async function nextReady(context: RecreateContext, old: PodRef): Promise<PodRef> {
  const { testbed, pods, sightings, signal } = context;
  const { clock } = testbed;
  const deadlineMs = clock.nowMs() + recreationMs;
  const isReady = (): boolean =>
    sightings.every(({ ready }) => ready !== undefined && ready.uid !== old.uid);
  if (await waitUntil(clock, isReady, { deadlineMs, signal })) {
    const pod = await pods.databasePod();
    if (pod !== undefined && pod.uid !== old.uid) return pod;
  }
  throw new EvidenceError('NOT_RECREATED', 'no other pod of the database became Ready');
}

interface ConvergeContext {
  readonly cluster: BreakableTestbed;
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
  const deadlineMs = clock.nowMs() + scenario.watch.converge;
  const comes = (condition: () => boolean): Promise<boolean> =>
    waitUntil(clock, condition, { deadlineMs, signal });
  await Promise.all(struck.map((run) => serving(run, comes)));
  if (scenario.remedy.untaintAt === 'kept') {
    await clock.sleep(Math.max(0, deadlineMs - clock.nowMs()), signal);
  }
  for (const remedy of remedies) await remedy.takeBack();
  if (scenario.fault.kind === 'node-crash' && !scenario.fault.reboot) return;
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
    isIdle: scenario.load.rate === 0,
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
