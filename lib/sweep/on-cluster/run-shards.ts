/**
 * The same sweep on a Kubernetes cluster: an Indexed Job plays its shards, and their results are
 * joined here in the order of their schedules, as those of threads are.
 */
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import type { V1Job, V1Pod, V1PodSpec } from '@kubernetes/client-node';
import pRetry from 'p-retry';
import {
  type UserClients,
  answered,
  EvidenceError,
  InfrastructureError,
  kubectl,
  kubernetesDefault,
  moduleBeside,
  needCheckout,
} from '../../core/index.ts';
import { planImages, publishedRuntime } from '../../kind/index.ts';
import { shardsOf, joinShard, type SweepShard, type SweepState } from '../sweep.ts';
import { labelsOf, makeSweepNamespace, newSweepNamespace } from './namespace.ts';
import { planFile, type ShardPlan, faultExitCode, parseResult } from './shard.ts';

/** `published`: the official image of Node. `built`: the driver's, which is on the nodes of each kind cluster made here. */
export type ImageChoice = 'auto' | 'published' | 'built';

/** Which image the pods run; `auto`: ours where every node has it. */
export async function imageFor({ core }: UserClients, choice: ImageChoice): Promise<string> {
  if (choice === 'published') return publishedRuntime;
  const { driver } = planImages({ source: 'built', kubernetes: kubernetesDefault }).images;
  if (choice === 'built') return driver;
  const { items } = await core.listNode().catch(() => ({ items: [] }));
  // A node's list names the registry too.
  const haveIt = items.every(({ status }) =>
    status?.images?.some(({ names }) => names?.some((name) => name.endsWith(`/${driver}`))),
  );
  return items.length > 0 && haveIt ? driver : publishedRuntime;
}

/** What a ConfigMap holds at most (1 MiB), less some room for its other keys. */
const mostBytes = 1_000_000;
const podFile = 'pod.mjs';

/**
 * The code that a pod runs, one module with the packages that it takes, as a ConfigMap's content: names of
 * files, and what is in them. Throws InfrastructureError `BUNDLE_TOO_LARGE`, `NEEDS_CHECKOUT`.
 */
export async function bundleOf(plan: ShardPlan): Promise<Readonly<Record<string, string>>> {
  needCheckout('a sweep on a cluster');
  const { rolldown } = await import('rolldown');
  await using bundle = await rolldown({
    input: fileURLToPath(moduleBeside('pod', import.meta)),
    platform: 'node',
    treeshake: {
      // Ours have none when they are imported; packages may.
      moduleSideEffects: [
        { test: /node_modules/, sideEffects: true },
        { test: /./, sideEffects: false },
      ],
    },
    plugins: [
      {
        // Such as clients of a real database: no pod runs it.
        name: 'leave out what is imported later',
        resolveId: (id, _, { kind }) =>
          kind === 'dynamic-import' ? { id, external: true } : undefined,
      },
    ],
  });
  const { output } = await bundle.generate({ format: 'es', minify: true });
  const data = { [podFile]: output[0].code, [planFile]: JSON.stringify(plan) };
  const bytes = Buffer.byteLength(Object.values(data).join(''));
  if (bytes <= mostBytes) return data;
  const problem = `the sweep's code and plan take ${bytes} bytes`;
  throw new InfrastructureError('BUNDLE_TOO_LARGE', problem, {
    hint: `a ConfigMap holds 1 MiB; give fewer --shards`,
  });
}

const jobName = 'sweep';
/** A pod that fails is tried again so often, summed over all shards. */
const retries = 4;
/** Ten times slower than measured, and waiting for one processor: it only ends what hangs. */
const slowestPerS = 200;
const startS = 1200;
/** A finished Job that nobody fetched goes away by itself. */
const keptS = 3600;

interface JobRequest extends Pick<ClusterSweep, 'image' | 'shards'> {
  readonly namespace: string;
  /** Of all shards together. */
  readonly schedules: number;
}

/**
 * One pod a shard. A retried shard comes to the same bytes, so a retry does no harm; a pod that was
 * evicted or preempted does not count as one, and a fault of the model ends the Job at once.
 */
function jobObject({ namespace, shards, image, schedules }: JobRequest): V1Job {
  const labels = labelsOf(namespace);
  const onFault = { containerName: jobName, operator: 'In', values: [faultExitCode] };
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
          { action: 'FailJob', onExitCodes: onFault },
          { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
        ],
      },
      template: { metadata: { labels }, spec: podSpec(image) },
    },
  };
}

const podSpec = (image: string): V1PodSpec => ({
  restartPolicy: 'Never',
  automountServiceAccountToken: false,
  enableServiceLinks: false,
  nodeSelector: { 'kubernetes.io/os': 'linux' },
  // There is nothing to end in order.
  terminationGracePeriodSeconds: 1,
  securityContext: {
    ...{ runAsNonRoot: true, runAsUser: 1000, runAsGroup: 1000 },
    seccompProfile: { type: 'RuntimeDefault' },
  },
  containers: [
    {
      name: jobName,
      image,
      command: ['node', `/bundle/${podFile}`, '/bundle'],
      // `ephemeral-storage` too: a namespace's quota may ask for each.
      resources: {
        requests: { cpu: '500m', memory: '512Mi', 'ephemeral-storage': '64Mi' },
        limits: { cpu: '1', memory: '1Gi', 'ephemeral-storage': '256Mi' },
      },
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

export interface ClusterSweep {
  readonly access: UserClients;
  /** Where to go on: at the beginning of an island. */
  readonly from: SweepState;
  readonly untilIndex: number;
  /** Pods side by side. */
  readonly shards: number;
  /** An image that has Node 24. */
  readonly image: string;
  readonly signal: AbortSignal;
  /** After each shard that joined, in the order of the schedules. */
  readonly onShard: (state: SweepState) => void;
  readonly say: (line: string) => void;
}

/**
 * Nothing stays on the cluster. Throws, beside what namespace.ts and sweep.ts name, EvidenceError
 * `SHARD_FAILED`, `SHARD_MISSING`, `SHARD_OUTPUT_CUT`: what joined before is a sweep that can go on.
 */
export async function sweepOnCluster(options: ClusterSweep): Promise<SweepState> {
  const { access, from, untilIndex, image, say } = options;
  const shards = shardsOf(from.next, untilIndex, options.shards);
  const data = await bundleOf({ seed: from.seed, disk: from.disk, shards });
  const namespace = newSweepNamespace();
  const made = await makeSweepNamespace(access, namespace, say);
  try {
    say(`namespace ${namespace} on ${access.context}: ${shards.length} shards on ${image}`);
    const schedules = untilIndex - from.next;
    const job = jobObject({ namespace, shards: shards.length, image, schedules });
    const code = { metadata: { name: jobName, labels: labelsOf(namespace) }, data };
    const { core, batch } = access;
    const making = 'making the Job';
    await answered(access, making, core.createNamespacedConfigMap({ namespace, body: code }));
    await answered(access, making, batch.createNamespacedJob({ namespace, body: job }));
    return await collect(options, namespace, shards);
  } finally {
    say(`removing the namespace ${namespace}`);
    await made.remove();
  }
}

const lookEveryMs = 2000;

async function collect(
  options: ClusterSweep,
  namespace: string,
  shards: readonly SweepShard[],
): Promise<SweepState> {
  const { access, from, image, signal, onShard, say } = options;
  const results = new Map<number, SweepState>();
  let state = from;
  let joined = 0;
  let shown = '';
  for (;;) {
    const { job, pods } = await lookAt(access, namespace, signal);
    const inPhase = (phase: string): V1Pod[] =>
      pods.filter(({ status }) => status?.phase === phase);
    for (const pod of inPhase('Succeeded')) {
      const index = indexOf(pod);
      const shard = shards[index];
      if (shard === undefined || index < joined || results.has(index)) continue;
      results.set(index, parseResult(await logOf(access, namespace, pod), from.seed, shard));
    }
    for (let next = results.get(joined); next !== undefined; next = results.get(joined)) {
      results.delete(joined);
      state = joinShard(state, next);
      joined += 1;
      onShard(state);
    }
    const pending = inPhase('Pending');
    const waitsFor = pending.map(reasonOf).find((reason) => reason !== undefined);
    const failed = job.status?.failed ?? 0;
    const done = new Set(inPhase('Succeeded').map(indexOf)).size;
    const line = [
      `shards: ${done} of ${shards.length} done, ${inPhase('Running').length} running`,
      ...(pending.length === 0 ? [] : [`${pending.length} waiting`]),
      ...(failed === 0 ? [] : [`${failed} failed and tried again`]),
      `${state.next} schedules joined`,
      `${Object.keys(state.tally.findings).length} findings`,
    ].join(', ');
    const whole = `${line}${waitsFor === undefined ? '' : ` (${waitsFor})`}`;
    if (whole !== shown) say((shown = whole));
    if (joined === shards.length) return state;
    mustStart(pods, image, kubectl(access, `--namespace ${namespace} describe pods`));
    await mustGoOn(job, inPhase('Failed').at(-1), (pod) =>
      logOf(access, namespace, pod, lastLines),
    );
    await sleep(lookEveryMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

/** An API server may be away for so many looks, each twice as late as the one before. */
const retriesOfLook = 5;
const lastLines = 20;

async function lookAt(
  access: UserClients,
  namespace: string,
  signal: AbortSignal,
): Promise<{ job: V1Job; pods: V1Pod[] }> {
  const { core, batch } = access;
  const look = async (): Promise<{ job: V1Job; pods: V1Pod[] }> => {
    // The Job first: what is complete has all its pods in the list that is asked for then.
    const job = await batch.readNamespacedJob({ name: jobName, namespace });
    const labelSelector = `job-name=${jobName}`;
    return { job, pods: (await core.listNamespacedPod({ namespace, labelSelector })).items };
  };
  return answered(access, 'looking at the Job', pRetry(look, { retries: retriesOfLook, signal }));
}

const logOf = (
  { core }: UserClients,
  namespace: string,
  { metadata }: V1Pod,
  tailLines?: number,
): Promise<string> => {
  const about = { name: metadata?.name ?? '', namespace, container: jobName };
  const request = tailLines === undefined ? about : { ...about, tailLines };
  return pRetry(() => core.readNamespacedPodLog(request), { retries: retriesOfLook });
};

const indexOf = ({ metadata }: V1Pod): number =>
  Number(metadata?.annotations?.['batch.kubernetes.io/job-completion-index']);

/** Why a pending pod does not run yet, in Kubernetes' words. */
function reasonOf({ status }: V1Pod): string | undefined {
  const unscheduled = status?.conditions?.find(
    ({ type, status }) => type === 'PodScheduled' && status === 'False',
  );
  const waiting = status?.containerStatuses?.[0]?.state?.waiting;
  return unscheduled?.message ?? waiting?.message ?? waiting?.reason;
}

/** Throws InfrastructureError `IMAGE_MISSING`, `POD_REFUSED` where a container waits in vain. */
export function mustStart(pods: readonly V1Pod[], image: string, command: string): void {
  for (const { status } of pods) {
    const { reason = '', message } = status?.containerStatuses?.[0]?.state?.waiting ?? {};
    const cause = new Error(message ?? reason);
    if (reason === 'ImagePullBackOff' || reason === 'InvalidImageName') {
      throw new InfrastructureError('IMAGE_MISSING', `the cluster cannot pull the image ${image}`, {
        hint: '--images published takes node:24 from a registry, built ours from the nodes',
        command,
        cause,
      });
    }
    if (reason !== 'CreateContainerConfigError') continue;
    throw new InfrastructureError('POD_REFUSED', 'the cluster does not start the pods', {
      command,
      cause,
    });
  }
}

/** A shard that failed for good, or is gone, takes the answer away: the sweep has a hole. */
async function mustGoOn(
  { status }: V1Job,
  last: V1Pod | undefined,
  readLog: (pod: V1Pod) => Promise<string>,
): Promise<void> {
  const holds = (wanted: string) =>
    status?.conditions?.find(({ type, status }) => type === wanted && status === 'True');
  const failed = holds('Failed');
  if (failed !== undefined) {
    const cause = last && new Error(`its log: ${await readLog(last)}`);
    const what = last === undefined ? 'a shard' : `shard ${indexOf(last)}`;
    throw new EvidenceError('SHARD_FAILED', `${what} failed, so the sweep is incomplete`, {
      hint: 'the folder keeps the earlier shards; the same command continues from there',
      again: [],
      cause: new Error(`${failed.reason ?? 'Failed'}: ${failed.message ?? ''}`, { cause }),
    });
  }
  if (holds('Complete') === undefined) return;
  const what = 'the pod of a shard is gone, so the sweep is incomplete';
  throw new EvidenceError('SHARD_MISSING', what, {
    hint: 'it was deleted; the same command continues after the earlier shards',
    again: [],
  });
}
