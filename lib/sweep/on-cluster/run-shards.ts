/**
 * The same sweep on a Kubernetes cluster: an Indexed Job plays its shards, and their results are
 * joined here in the order of their schedules, as those of threads are.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { V1Job, V1Pod } from '@kubernetes/client-node';
import pRetry from 'p-retry';
import { EvidenceError, type UserClients, answered, kubectl } from '../../core/index.ts';
import { shardsOf, joinShard, type SweepShard, type SweepState } from '../sweep.ts';
import { bundleOf } from './bundle.ts';
import { bundleObject, jobName, jobObject } from './job.ts';
import { parseResult } from './output.ts';
import { makeSweepNamespace, newSweepNamespace } from './namespace.ts';
import { failureOf, isJobComplete, mustStart, shardPods, type ShardPods } from './pods.ts';

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

const lookEveryMs = 2000;
/** An API server may be away for so many looks, each twice as late as the one before. */
const looksAgain = 5;
const lastLines = 20;

/**
 * Nothing stays on the cluster. Throws, beside what access.ts and sweep.ts name, EvidenceError
 * `SHARD_FAILED`, `SHARD_MISSING`, `SHARD_OUTPUT_CUT`: what joined before is a sweep that can go on.
 */
export async function sweepOnCluster(options: ClusterSweep): Promise<SweepState> {
  const { access, from, untilIndex, image, say } = options;
  const shards = shardsOf(from.next, untilIndex, options.shards);
  const bundle = await bundleOf({ seed: from.seed, disk: from.disk, shards });
  const namespace = newSweepNamespace();
  const made = await makeSweepNamespace(access, namespace, say);
  try {
    say(`namespace ${namespace} on ${access.context}: ${shards.length} shards on ${image}`);
    const schedules = untilIndex - from.next;
    const job = jobObject({ namespace, shards: shards.length, image, schedules });
    const code = bundleObject(namespace, bundle);
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

async function collect(
  { access, from, image, signal, onShard, say }: ClusterSweep,
  namespace: string,
  shards: readonly SweepShard[],
): Promise<SweepState> {
  const results = new Map<number, SweepState>();
  let state = from;
  let joined = 0;
  let said = '';
  for (;;) {
    const { job, pods } = await lookAt(access, namespace, signal);
    const seen = shardPods(pods);
    for (const [index, name] of seen.done) {
      const shard = shards[index];
      if (shard === undefined || index < joined || results.has(index)) continue;
      results.set(index, parseResult(await logOf(access, namespace, name), from.seed, shard));
    }
    for (let next = results.get(joined); next !== undefined; next = results.get(joined)) {
      results.delete(joined);
      state = joinShard(state, next);
      joined += 1;
      onShard(state);
    }
    const line = progressLine(seen, job.status?.failed ?? 0, shards.length, state);
    if (line !== said) say((said = line));
    if (joined === shards.length) return state;
    mustStart(pods, image, kubectl(access, `--namespace ${namespace} describe pods`));
    await mustGoOn({ access, namespace, job, seen });
    await sleep(lookEveryMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

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
  return answered(access, 'looking at the Job', pRetry(look, { retries: looksAgain, signal }));
}

const logOf = (
  { core }: UserClients,
  namespace: string,
  name: string,
  lines?: number,
): Promise<string> =>
  pRetry(
    () =>
      core.readNamespacedPodLog({
        ...{ name, namespace, container: jobName },
        ...(lines === undefined ? {} : { tailLines: lines }),
      }),
    { retries: looksAgain },
  );

interface JobLook {
  readonly access: UserClients;
  readonly namespace: string;
  readonly job: V1Job;
  readonly seen: ShardPods;
}

/** A shard that failed for good, or is gone, takes the answer away: the sweep has a hole. */
async function mustGoOn({ access, namespace, job, seen }: JobLook): Promise<void> {
  const why = failureOf(job);
  if (why !== undefined) {
    const last = seen.failed.at(-1);
    const log = last && (await logOf(access, namespace, last.name, lastLines));
    throw new EvidenceError(
      'SHARD_FAILED',
      `${last === undefined ? 'a shard' : `shard ${last.shard}`} failed, so the sweep is incomplete`,
      {
        hint: 'the folder keeps the earlier shards; the same command continues from there',
        again: [],
        cause: new Error(why, log === undefined ? {} : { cause: new Error(`its log: ${log}`) }),
      },
    );
  }
  if (isJobComplete(job)) {
    throw new EvidenceError(
      'SHARD_MISSING',
      'the pod of a shard is gone, so the sweep is incomplete',
      {
        hint: 'it was deleted; the same command continues after the earlier shards',
        again: [],
      },
    );
  }
}

function progressLine(
  { done, running, waiting, waitsFor }: ShardPods,
  failed: number,
  shards: number,
  { next, tally }: SweepState,
): string {
  const parts = [
    `shards: ${done.size} of ${shards} done, ${running} running`,
    ...(waiting === 0 ? [] : [`${waiting} waiting`]),
    ...(failed === 0 ? [] : [`${failed} failed and tried again`]),
    `${next} schedules joined`,
    `${Object.keys(tally.findings).length} findings`,
  ];
  return `${parts.join(', ')}${waitsFor === undefined ? '' : ` (${waitsFor})`}`;
}
