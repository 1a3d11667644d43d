/** Claims on attachments: who makes them, who takes them away, and what they are when nobody does. */
import { z } from 'zod';
import {
  diskTool,
  startControllerManager,
  stopControllerManager,
} from '../../../lib/kind/index.ts';
import { observed } from '../../../lib/history/index.ts';
import type { Claim, Procedure } from '../claim.ts';
import type { ClaimReading } from '../reading.ts';
import type { Bench } from './bench.ts';
import { attachment, defineNote, endedEarly, reading } from './notes.ts';
import { toldInSeconds } from '../../../lib/core/index.ts';
import { allSeen, firstOf, recordLines, type RecordedRun } from '../recorded-run.ts';

const awayMs = 10_000;
const off = defineNote('controller manager stopped', {
  attachments: z.number(),
  phase: z.string(),
});
const on = defineNote('it runs again', { afterS: z.number() });
const stalled = defineNote('kubelet stopped', { attached: z.boolean(), phase: z.string() });
const goesOn = defineNote('it goes on', { afterS: z.number() });

export const division: Claim = {
  number: 2,
  title: 'Division of labour',
  statement: 'The controller attaches from the control plane, kubelet mounts on its node.',
  expected:
    'Holds: without the controller manager nothing is attached, without kubelet the ' +
    'volume is attached and not mounted.',
  procedure: {
    async act(bench) {
      const [first, second] = bench.nodes;
      await withoutControllerManager(bench, first);
      await withoutKubelet(bench, second);
    },
    read: reading({ off, on, stalled, goesOn }, ({ off, on, stalled, goesOn }, notes) => ({
      asExpected: off.attachments === 0 && stalled.attached && stalled.phase === 'Pending',
      said:
        `Without the controller manager: ${off.attachments} attachments in ${awayMs / 1000} s; ` +
        `the pod ran ${on.afterS} s after it was back. Without kubelet: attached ` +
        `${stalled.attached}, pod ${stalled.phase} for ${awayMs / 1000} s; it ran ` +
        `${goesOn.afterS} s after kubelet went on.`,
      records: [...notes.calls('publish'), ...notes.calls('stage')],
    })),
  },
};

async function withoutControllerManager(bench: Bench, node: string): Promise<void> {
  const { controlPlane } = bench.testbed.cluster;
  const volume = await bench.volume('attach');
  await stopControllerManager(controlPlane);
  const pod = await bench.pod('attach', { volume, node, bound: true });
  await bench.pause(awayMs);
  const attachments = (await bench.attachments(volume)).length;
  bench.note(off, { attachments, phase: await bench.phase('pod', pod) });
  const afterS = await bench.seconds(async () => {
    await startControllerManager(controlPlane);
    await bench.running(pod, 120_000);
  });
  bench.note(on, { afterS });
}

async function withoutKubelet(bench: Bench, node: string): Promise<void> {
  const machine = bench.testbed.machine(node);
  const volume = await bench.volume('mount');
  await machine.stall('kubelet');
  const pod = await bench.pod('mount', { volume, node, bound: true });
  await bench.pause(awayMs);
  const attached = (await bench.attachments(volume)).some((each) => each.attached);
  bench.note(stalled, { attached, phase: await bench.phase('pod', pod) }, node);
  const afterS = await bench.seconds(async () => {
    await machine.resume();
    await bench.running(pod, 120_000);
  });
  bench.note(goesOn, { afterS }, node);
}

const unnoticed = defineNote('nobody notices', {
  watchMs: z.number(),
  attachments: z.array(attachment),
  ready: z.string().optional(),
});

export const orphanedLock: Claim = {
  number: 5,
  title: 'Orphaned lock',
  statement: 'A node dies, nobody tells the provider, and the disk stays locked.',
  expected:
    'Still so while the controller manager is away: the VolumeAttachment stays. ' +
    '(Kubelets that race each other are history and cannot be run.)',
  procedure: {
    async act(bench) {
      const { cluster, clients, machine, timers } = bench.testbed;
      const name = bench.nodes[1];
      const orphan = await bench.podOnVolume('orphan', name);
      const watchMs = timers.nodeMonitorGraceMs + timers.forceDetachAfterMs + 5_000;
      await stopControllerManager(cluster.controlPlane);
      await machine(name).kill();
      await bench.pause(watchMs);
      const attachments = await bench.attachments(orphan);
      const { status } = await clients.core.readNode({ name });
      const ready = status?.conditions?.find(({ type }) => type === 'Ready')?.status;
      bench.note(unnoticed, { watchMs, attachments, ready }, name);
      await diskTool(cluster.lab, 'release', { node: name });
      await startControllerManager(cluster.controlPlane);
    },
    read: reading({ unnoticed }, ({ unnoticed: { watchMs, attachments, ready } }) => ({
      asExpected: attachments.length === 1 && ready === 'True',
      said:
        `${watchMs / 1000} s after the node’s death, longer than grace and forced detach together, ` +
        `${attachments.length} VolumeAttachment still names it, and its Ready condition still says ` +
        `${ready}.`,
    })),
  },
};

const ends = { Succeeded: 'true', Failed: 'false' } as const;
const letGo = defineNote('finished pod', {
  ...{ phase: z.string(), isDetached: z.boolean(), afterS: z.number(), timerMs: z.number() },
});
/** How late a phase may be seen, and how long a decision and its detach may take. */
const [seenLateMs, detachMs] = [2_000, 15_000];

/** Claim 8, for pods that finished: nobody deletes them, and their node dies before it has unmounted. */
export const finishedPodsLetGo: Procedure = {
  async act(bench) {
    const { clock, cluster, machine, timers } = bench.testbed;
    const node = bench.nodes[1];
    const timerMs = timers.forceDetachAfterMs;
    const finish = async ([phase, command]: readonly [string, string]) => {
      const name = phase.toLowerCase();
      const volume = await bench.volume(name);
      await diskTool(cluster.lab, 'answer-calls', { volume, calls: 'nodeUnpublish=never' });
      const choice = { volume, node, command: [command], restart: 'Never' } as const;
      await bench.until('pod', await bench.pod(name, choice), phase);
      return { phase, volume, endedAtMs: clock.nowMs() };
    };
    const finished = await Promise.all(Object.entries(ends).map(finish));
    await machine(node).kill();
    const waitMs = timers.nodeMonitorGraceMs + timerMs + detachMs;
    const watch = async ({ phase, volume, endedAtMs }: (typeof finished)[number]) => {
      let isDetached = false;
      const afterS = await bench.seconds(async () => {
        isDetached = await bench.inTime(bench.detached(volume, waitMs));
      }, endedAtMs);
      bench.note(letGo, { phase, isDetached, afterS, timerMs }, node);
    };
    await Promise.all(finished.map(watch));
    await diskTool(cluster.lab, 'let-go');
  },
  read: reading({}, (_, notes) => {
    const all = notes.all(letGo);
    if (all.length < Object.keys(ends).length) return endedEarly;
    const inTime = ({ isDetached, afterS, timerMs }: (typeof all)[number]): boolean =>
      isDetached && afterS * 1000 >= timerMs - seenLateMs && afterS * 1000 <= timerMs + detachMs;
    const told = all.map(({ phase, isDetached, afterS }) =>
      isDetached ? `${phase}: gone ${afterS} s after the phase` : `${phase}: not in ${afterS} s`,
    );
    return {
      asExpected: all.every(inTime),
      said: `Pods that finished, on a node that died before it had unmounted. ${told.join('; ')}.`,
      records: [...notes.calls('unpublish'), ...notes.seen(observed.forceDetachLog)],
    };
  }),
};

const stallMs = 20_000;
const stopped = defineNote('attacher stopped', {
  deleting: z.boolean(),
  finalizers: z.array(z.string()).nullable(),
});
const resumed = defineNote('it goes on', { afterS: z.number() });

export const detachStalls: Claim = {
  number: 33,
  title: 'Life of a VolumeAttachment',
  statement: 'The controller deletes it, the external-attacher detaches and lets it go.',
  expected:
    'Holds: with the attacher away it stays, marked for deletion, until the attacher is back.',
  procedure: {
    async act(bench) {
      const { clients, controlPlane } = bench.testbed;
      const late = await bench.podOnVolume('late', bench.nodes[0]);
      await controlPlane.stall('attacher');
      await bench.remove(late);
      await bench.pause(stallMs);
      const { items } = await clients.storage.listVolumeAttachment();
      const left = items.find(({ spec }) => spec.source.persistentVolumeName === late)?.metadata;
      const deleting = left?.deletionTimestamp !== undefined;
      bench.note(stopped, { deleting, finalizers: left?.finalizers ?? null });
      const afterS = await bench.seconds(async () => {
        await controlPlane.resume('attacher');
        await bench.detached(late, 120_000);
      });
      bench.note(resumed, { afterS });
    },
    read: reading({ stopped, resumed }, ({ stopped, resumed }, notes) => ({
      asExpected: stopped.deleting,
      said:
        `With the attacher stopped the VolumeAttachment stayed for ${stallMs / 1000} s, ` +
        `marked for deletion: ${stopped.deleting}, held by ${String(stopped.finalizers)}; it was ` +
        `gone ${resumed.afterS} s after the attacher went on.`,
      records: notes.calls('unpublish'),
    })),
  },
};

const backWithinMs = 130_000;
const deleted = defineNote('deleted', attachment.shape);
const reconciled = defineNote('reconciled', {
  ...{ isBack: z.boolean(), afterS: z.number(), phase: z.string() },
});

export const deletedByHand: Claim = {
  number: 18,
  title: 'Reconcile loops',
  statement:
    'Controller and volume manager bring the actual state to the desired one, again and again.',
  expected:
    'Holds: a VolumeAttachment deleted by hand comes back within about a minute. A ' +
    'restarted controller manager begins its wait again.',
  runs: ['controller-restart --remedy force-delete'],
  read: restartedInTheWait,
  procedure: {
    async act(bench) {
      const node = bench.nodes[0];
      const hand = await bench.podOnVolume('hand', node);
      const [attachment] = await bench.attachments(hand);
      if (attachment === undefined) return;
      let isBack = false;
      const look = async (): Promise<true | string> =>
        (await bench.attachments(hand)).some(({ attached }) => attached) || 'not attached';
      await bench.testbed.clients.storage.deleteVolumeAttachment({ name: attachment.name });
      const afterS = await bench.seconds(async () => {
        bench.note(deleted, attachment, node);
        await bench.detached(hand, 30_000);
        isBack = await bench.inTime(bench.wait('it is attached again', look, backWithinMs));
      });
      bench.note(reconciled, { isBack, afterS, phase: await bench.phase('pod', hand) }, node);
    },
    read: reading({ deleted, reconciled }, ({ reconciled: { isBack, afterS, phase } }, notes) => ({
      asExpected: isBack,
      said: `The driver was told to detach a volume in use; ${isBack ? `the controller attached it again ${afterS} s after the deletion` : `it was not attached again in ${backWithinMs / 1000} s`}, and the pod was ${phase} throughout.`,
      records: [
        ...notes.calls('unpublish').slice(0, 1),
        ...notes.seen(observed.attachmentCreated),
        ...notes.seen(observed.attachmentGone),
      ],
    })),
  },
};

/** Claim 18, second half: a controller manager that dies in the wait begins it anew. */
function restartedInTheWait(run: RecordedRun): ClaimReading {
  const { also, timers } = run.story.scenario;
  if (also.kind !== 'controller-restart') return 'the controller manager was not restarted';
  const gone = firstOf(run, 'pod-gone');
  const detached = firstOf(run, 'detached');
  if (gone === undefined || detached === undefined) return 'the volume was not detached';
  const leader = allSeen(run, observed.leaderAcquired, ({ t }) => t > gone.t && t < detached.t).at(
    -1,
  );
  if (leader === undefined) return 'no new controller manager led in the wait';
  const waitedMs = detached.t - leader.t;
  return {
    asExpected: waitedMs >= timers.forceDetachAfter,
    said:
      `The new controller manager led ${toldInSeconds(leader.t - gone.t)} after the pod was ` +
      `gone, and the volume was detached ${toldInSeconds(waitedMs)} after that (the timer is ` +
      `${toldInSeconds(timers.forceDetachAfter)}): ${toldInSeconds(detached.t - gone.t)} in all.`,
    evidence: recordLines(run, [gone, leader, detached]),
  };
}
