/** The Kubernetes objects of a sweep: what the pods run as, and what bounds them. Pure. */
import type { V1ConfigMap, V1Job, V1Namespace, V1PodSpec } from '@kubernetes/client-node';
import { podFile } from './bundle.ts';
import { faultExitCode } from './shard.ts';

export interface SweepJobRequest {
  readonly namespace: string;
  readonly shards: number;
  /** An image that has Node 24. */
  readonly image: string;
  /** Schedules of all shards together. */
  readonly schedules: number;
}

export const jobName = 'sweep';
/** By which a user and the reaper tell our namespaces. */
export const sweepLabel = 'forcedetach.sweep';

const labelsOf = (namespace: string): Record<string, string> => ({
  'app.kubernetes.io/managed-by': 'forcedetach',
  [sweepLabel]: 'yes',
  'forcedetach.run': namespace,
});

/** The API server itself holds its pods to the restricted profile. */
export const namespaceObject = (namespace: string, owner: string): V1Namespace => ({
  metadata: {
    name: namespace,
    labels: { ...labelsOf(namespace), 'pod-security.kubernetes.io/enforce': 'restricted' },
    annotations: { 'forcedetach.owner': owner },
  },
});

export const bundleObject = (
  namespace: string,
  data: Readonly<Record<string, string>>,
): V1ConfigMap => ({
  metadata: { name: jobName, labels: labelsOf(namespace) },
  data,
});

/** A pod that fails is tried again so often, summed over all shards. */
const retries = 4;
/** Ten times slower than measured, and waiting for one processor: it only ends what hangs. */
const slowestPerS = 200;
const startS = 1200;
/** A finished Job that nobody fetched goes away by itself. */
const keptS = 3600;

/**
 * One pod a shard. A retried shard comes to the same bytes, so a retry does no harm; a pod that was
 * evicted or preempted does not count as one, and a fault of the model ends the Job at once.
 */
export function jobObject({ namespace, shards, image, schedules }: SweepJobRequest): V1Job {
  const labels = labelsOf(namespace);
  return {
    metadata: { name: jobName, labels },
    spec: {
      completionMode: 'Indexed',
      completions: shards,
      parallelism: shards,
      backoffLimit: retries,
      activeDeadlineSeconds: startS + Math.ceil(schedules / slowestPerS),
      ttlSecondsAfterFinished: keptS,
      podFailurePolicy: {
        rules: [
          {
            action: 'FailJob',
            onExitCodes: { containerName: jobName, operator: 'In', values: [faultExitCode] },
          },
          { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
        ],
      },
      template: { metadata: { labels }, spec: podSpec(image) },
    },
  };
}

/** `ephemeral-storage` too: a namespace's quota may ask for each. */
const resources = {
  requests: { cpu: '500m', memory: '512Mi', 'ephemeral-storage': '64Mi' },
  limits: { cpu: '1', memory: '1Gi', 'ephemeral-storage': '256Mi' },
};

const podSpec = (image: string): V1PodSpec => ({
  restartPolicy: 'Never',
  automountServiceAccountToken: false,
  enableServiceLinks: false,
  nodeSelector: { 'kubernetes.io/os': 'linux' },
  // There is nothing to end in order.
  terminationGracePeriodSeconds: 1,
  securityContext: {
    runAsNonRoot: true,
    runAsUser: 1000,
    runAsGroup: 1000,
    seccompProfile: { type: 'RuntimeDefault' },
  },
  containers: [
    {
      name: jobName,
      image,
      command: ['node', `/bundle/${podFile}`, '/bundle'],
      resources,
      securityContext: {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      },
      volumeMounts: [{ name: 'bundle', mountPath: '/bundle', readOnly: true }],
    },
  ],
  volumes: [{ name: 'bundle', configMap: { name: jobName } }],
});
