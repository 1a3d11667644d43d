/**
 * The way back: after the hand-over the successor's node is drained, so that the pod has nowhere to go
 * but to the victim; then the victim is healed. Its old pod may not have been stopped yet, and the
 * volume is still mounted there as it was before the hand-over.
 */
import type { BreakableTestbed, PodKubernetes } from './ports/cluster.ts';
import type { PodRef, Recorder } from '../history/index.ts';
import { EvidenceError } from '../core/index.ts';
import { type Sightings, recreation } from '../judge/index.ts';
import { waitUntil } from './wait.ts';
import { type Scenario, drainMs, recreationMs } from '../scenario/index.ts';

/** What of a testbed it takes to empty nodes. */
type Drainable = Pick<BreakableTestbed, 'clock' | 'nodes'> & {
  readonly kubernetes: Pick<BreakableTestbed<'drain'>['kubernetes'], 'drain' | 'uncordon'>;
};

interface MoveBackContext {
  readonly testbed: Drainable;
  readonly recorder: Pick<Recorder, 'record'>;
  /** One a volume. */
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
  readonly scenario: Pick<Scenario, 'recreations'>;
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
  for (let round = 0; round < scenario.recreations; round++) {
    const isForced = round % 2 === 1;
    const about = {
      ...({ type: 'action', actor: 'runner', node: pod.node, detail: pod.uid } as const),
      name: isForced ? recreation.forced : recreation.plain,
    };
    recorder.record({ ...about, step: 'begin' });
    await (isForced ? pods.forceDelete(pod) : pods.deletePod(pod));
    pod = await nextReady(context, pod);
    recorder.record({ ...about, step: 'done' });
    context.onProgress(`pod ${round + 1} of ${scenario.recreations} is Ready again`);
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
