/**
 * Deletes the database's pod again and again on one node, in turn as usual and by force, and waits
 * each time until the next one is Ready. All other nodes are drained, so that it stays where it is.
 */
import type { Kubernetes, PodRef } from '../../cluster/port.ts';
import { EvidenceError } from '../../errors.ts';
import { recreation } from '../../timeline/recreations.ts';
import { moveBack, type MoveBackContext } from './move-back.ts';
import type { Scenario } from '../scenario.ts';
import { waitUntil } from './wait.ts';

export interface RecreateContext extends MoveBackContext {
  readonly scenario: Pick<Scenario, 'recreations'>;
  readonly testbed: MoveBackContext['testbed'] & {
    readonly kubernetes: Pick<Kubernetes, 'databasePod' | 'deletePod' | 'forceDelete'>;
  };
  readonly onProgress: (line: string) => void;
}

/** kubelet gives up waiting for a volume after 2 min 3 s, and tries again. */
const readyWithinMs = 300_000;

export async function recreate(context: RecreateContext): Promise<void> {
  const { scenario, testbed, recorder, victim } = context;
  const { kubernetes } = testbed;
  await moveBack(context);
  let pod = victim;
  for (let round = 0; round < scenario.recreations; round++) {
    const isForced = round % 2 === 1;
    const about = {
      ...({ type: 'action', actor: 'runner', node: pod.node, detail: pod.uid } as const),
      name: isForced ? recreation.forced : recreation.plain,
    };
    recorder.record({ ...about, step: 'begin' });
    await (isForced ? kubernetes.forceDelete(pod) : kubernetes.deletePod(pod));
    pod = await nextReady(context, pod);
    recorder.record({ ...about, step: 'done' });
    context.onProgress(`pod ${round + 1} of ${scenario.recreations} is Ready again`);
  }
}

async function nextReady(context: RecreateContext, old: PodRef): Promise<PodRef> {
  const { testbed, sightings, signal } = context;
  const { clock, kubernetes } = testbed;
  const deadlineMs = clock.nowMs() + readyWithinMs;
  const isReady = (): boolean => sightings.ready !== undefined && sightings.ready.uid !== old.uid;
  if (await waitUntil(clock, isReady, { deadlineMs, signal })) {
    const pod = await kubernetes.databasePod();
    if (pod !== undefined && pod.uid !== old.uid) return pod;
  }
  throw new EvidenceError('NOT_RECREATED', 'no other pod of the database became Ready');
}
