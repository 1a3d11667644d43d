/** What the pods of a sweep's Job are about: from the API's objects to words. Pure. */
import type { V1Job, V1Pod } from '@kubernetes/client-node';
import { InfrastructureError } from '../../core/index.ts';

export interface ShardPods {
  /** Completion index → a pod that succeeded. */
  readonly done: ReadonlyMap<number, string>;
  /** Pods that failed and are still there. */
  readonly failed: readonly { readonly name: string; readonly shard: number }[];
  readonly running: number;
  readonly waiting: number;
  /** Why one of those does not run yet, in Kubernetes' words. */
  readonly waitsFor: string | undefined;
}

const indexOf = ({ metadata }: V1Pod): number =>
  Number(metadata?.annotations?.['batch.kubernetes.io/job-completion-index']);

export function shardPods(pods: readonly V1Pod[]): ShardPods {
  const inPhase = (phase: string): V1Pod[] => pods.filter(({ status }) => status?.phase === phase);
  const nameOf = ({ metadata }: V1Pod): string => metadata?.name ?? '';
  const pending = inPhase('Pending');
  return {
    done: new Map(inPhase('Succeeded').map((pod) => [indexOf(pod), nameOf(pod)])),
    failed: inPhase('Failed').map((pod) => ({ name: nameOf(pod), shard: indexOf(pod) })),
    running: inPhase('Running').length,
    waiting: pending.length,
    waitsFor: pending.map(reasonOf).find((reason) => reason !== undefined),
  };
}

function reasonOf({ status }: V1Pod): string | undefined {
  const unscheduled = status?.conditions?.find(
    ({ type, status }) => type === 'PodScheduled' && status === 'False',
  );
  const waiting = status?.containerStatuses?.[0]?.state?.waiting;
  return unscheduled?.message ?? waiting?.message ?? waiting?.reason;
}

/** Reasons of a container that waits in vain. */
const vain = new Set(['ImagePullBackOff', 'InvalidImageName', 'CreateContainerConfigError']);

/** Throws InfrastructureError `IMAGE_MISSING`, `POD_REFUSED`. */
export function mustStart(pods: readonly V1Pod[], image: string, command: string): void {
  for (const { status } of pods) {
    const waiting = status?.containerStatuses?.[0]?.state?.waiting;
    if (waiting?.reason === undefined || !vain.has(waiting.reason)) continue;
    const isImage = waiting.reason !== 'CreateContainerConfigError';
    const cause = new Error(waiting.message ?? waiting.reason);
    throw isImage
      ? new InfrastructureError('IMAGE_MISSING', `the cluster cannot pull the image ${image}`, {
          hint: '--images published takes node:24 from a registry, built ours from the nodes',
          command,
          cause,
        })
      : new InfrastructureError('POD_REFUSED', 'the cluster does not start the pods', {
          command,
          cause,
        });
  }
}

/** Why the Job ended without success, in Kubernetes' words; undefined while it goes on. */
export function failureOf({ status }: V1Job): string | undefined {
  const failed = status?.conditions?.find(
    ({ type, status }) => type === 'Failed' && status === 'True',
  );
  return failed && `${failed.reason ?? 'Failed'}: ${failed.message ?? ''}`;
}

export const isJobComplete = ({ status }: V1Job): boolean =>
  status?.conditions?.some(({ type, status }) => type === 'Complete' && status === 'True') ?? false;
