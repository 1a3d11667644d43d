/**
 * The way back: after the hand-over the successor's node is drained, so that the pod has nowhere to go
 * but to the victim; then the victim is healed. Its old pod may not have been stopped yet, and the
 * volume is still mounted there as it was before the hand-over.
 */
import type { Kubernetes, PodRef, Recorder, KubernetesTestbed } from '../../cluster/port.ts';
import { EvidenceError } from '../../errors.ts';
import type { Sightings } from './sightings.ts';
import { waitUntil } from './wait.ts';

/** What of a testbed it takes to empty nodes. */
interface Drainable extends Pick<KubernetesTestbed, 'clock' | 'nodes'> {
  readonly kubernetes: Pick<Kubernetes, 'drain' | 'uncordon'>;
}

export interface MoveBackContext {
  readonly testbed: Drainable;
  readonly recorder: Pick<Recorder, 'record'>;
  readonly sightings: Sightings;
  readonly victim: PodRef;
  readonly signal: AbortSignal;
}

/** A database that is stopped in good order takes some seconds. */
const drainMs = 60_000;

/** Every other node is drained; resolves once none of them has the volume mounted. */
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
  const isEmpty = (): boolean => [...sightings.mountedOn].every((node) => node === victim.node);
  const deadlineMs = clock.nowMs() + drainMs;
  if (!(await waitUntil(clock, isEmpty, { deadlineMs, signal }))) {
    throw new EvidenceError('NOT_MOVED_BACK', 'the successor’s node kept the volume mounted');
  }
  step('done');
}

/** Idempotent. */
export async function letOthersServe(testbed: Drainable, victim: PodRef): Promise<void> {
  for (const node of others(testbed, victim)) await testbed.kubernetes.uncordon(node);
}

const others = ({ nodes }: Drainable, victim: PodRef): string[] =>
  nodes.filter((node) => node !== victim.node);
