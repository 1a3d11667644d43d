/** Claims on a second pod of a volume, and on what lets the volume go to it. */
import { z } from 'zod';
import { diskTool } from '../../../lib/kind/index.ts';
import { isDirectory } from '../../../lib/scenario/index.ts';
import { observed } from '../../../lib/history/index.ts';
import { outOfServiceTaint } from '../../../lib/core/index.ts';
import type { Claim } from '../claim.ts';
import type { ClaimReading } from '../reading.ts';
import { attachment, endedEarly, defineNote, reading } from './notes.ts';
import { firstOf, firstSeen, recordLines, since, type RecordedRun } from '../recorded-run.ts';

const refusedForMs = 8_000;
const disks = ['unfenced', 'pending-while-busy'] as const;
const second = defineNote('second node', {
  ...{ disk: z.enum(disks), volume: z.string(), phase: z.string(), events: z.array(z.string()) },
});

export const twoNodesAttach: Claim = {
  number: 3,
  title: 'Provider exclusivity',
  statement: 'The provider refuses to attach a read-write disk to a second node.',
  expected:
    'The driver decides: `pending-while-busy` refuses a second node, `unfenced` lets ' +
    'it in (the volume is declared ReadWriteMany, which switches Kubernetes’ own gate ' +
    'off).',
  procedure: {
    async act(bench) {
      const [first, other] = bench.nodes;
      for (const disk of disks) {
        const volume = await bench.podOnVolume(disk, first, { disk, accessMode: 'ReadWriteMany' });
        const pod = await bench.pod(`${disk}-two`, { volume, node: other });
        await bench.pause(refusedForMs);
        const phase = await bench.phase('pod', pod);
        const events = await bench.events(pod, 'FailedAttachVolume');
        bench.note(second, { disk, volume, phase, events }, other);
      }
    },
    read: reading({}, (_, notes) => {
      const [permissive, exclusive] = notes.all(second);
      if (permissive === undefined || exclusive === undefined) return endedEarly;
      const refused = notes
        .calls('publish')
        .filter(({ data }) => data.error !== undefined && data.volume === exclusive.volume);
      const isRefused = exclusive.phase === 'Pending' && refused.length > 0;
      return {
        asExpected: permissive.phase === 'Running' && isRefused,
        said:
          `unfenced: the second node’s pod is ${permissive.phase}. pending-while-busy: ` +
          `${exclusive.phase}, ControllerPublish refused ${refused.length} times in ` +
          `${refusedForMs / 1000} s (${String(refused[0]?.data.error)}).`,
        records: [...notes.seen(observed.mounted), ...refused.slice(0, 2)],
      };
    }),
  },
};

const nodeSeen = { ready: z.boolean(), attachments: z.array(attachment) };
const held = defineNote('unmount hangs', { watchMs: z.number(), ...nodeSeen });
const tainted = defineNote('out-of-service', { afterS: z.number(), ...nodeSeen });

export const detachGate: Claim = {
  number: 7,
  title: 'Detach gate',
  statement: 'The controller confirms that a volume is unmounted before it detaches it.',
  expected:
    'Holds on a Ready node, for ever: no timer. But the out-of-service taint gets ' +
    'past it even on a Ready node.',
  procedure: {
    async act(bench) {
      const { cluster, kubernetes, timers } = bench.testbed;
      const node = bench.nodes[1];
      const look = async () => ({
        ready: await kubernetes.isReady(node),
        attachments: await bench.attachments(stuck),
      });
      const stuck = await bench.podOnVolume('stuck', node);
      await diskTool(cluster.lab, 'answer-calls', { volume: stuck, calls: 'nodeUnpublish=never' });
      await bench.delete(stuck);
      const watchMs = timers.forceDetachAfterMs + 15_000;
      await bench.pause(watchMs);
      bench.note(held, { watchMs, ...(await look()) }, node);
      await kubernetes.taint(node, outOfServiceTaint);
      const afterS = await bench.seconds(() => bench.inTime(bench.detached(stuck, 30_000)));
      bench.note(tainted, { afterS, ...(await look()) }, node);
      // Its call is in the driver's log once it is answered.
      await diskTool(cluster.lab, 'let-go');
      await bench.pause(2_000);
    },
    read: reading({ held, tainted }, ({ held, tainted }, notes) => {
      const lookedAt = notes.records('out-of-service').at(-1)?.t ?? 0;
      const isUnmounted = notes.seen(observed.unmounted).some(({ t }) => t <= lookedAt);
      return {
        asExpected: held.attachments.length === 1 && held.ready && tainted.attachments.length === 0,
        said:
          'With NodeUnpublish hanging on a Ready node the volume stayed attached for ' +
          `${held.watchMs / 1000} s, beyond the timer. The out-of-service taint on the same Ready ` +
          `node detached it ${tainted.afterS} s later, ` +
          `${isUnmounted ? 'unmounted by then' : 'still mounted'}.`,
        records: [
          ...notes.calls('unpublish'),
          ...notes.calls('nodeUnpublish'),
          ...notes.seen(observed.forceDetachLog),
        ],
      };
    }),
  },
};

const counts = { attachments: z.number(), volumesAttached: z.number(), multiAttach: z.number() };
const twoNodes = defineNote('two nodes', counts);

export const noAttach: Claim = {
  number: 26,
  title: 'NFS: no attach phase',
  statement: 'A file system from a server is mounted without an attach.',
  expected:
    'Holds: no VolumeAttachment, no volumesAttached, no Multi-Attach error, also for ' +
    'ReadWriteOnce. A Deployment mounts a second time at the eviction.',
  runs: ['network-partition --remedy none --workload deployment-recreate --disk shared-file'],
  read: mountedAtEviction,
  procedure: {
    async act(bench) {
      const { core } = bench.testbed.clients;
      const [first, second] = bench.nodes;
      const volume = await bench.podOnVolume('files', first, { disk: 'shared-file' });
      const pod = await bench.running(await bench.pod('files-two', { volume, node: second }));
      const nodes = await Promise.all(bench.nodes.map((name) => core.readNode({ name })));
      const listed = nodes
        .flatMap(({ status }) => status?.volumesAttached ?? [])
        .filter(({ name }) => name.endsWith(volume));
      bench.note(twoNodes, {
        attachments: (await bench.attachments(volume)).length,
        volumesAttached: listed.length,
        multiAttach: (await bench.events(pod, 'FailedAttachVolume')).length,
      });
    },
    read: reading({ twoNodes }, ({ twoNodes }, notes) => ({
      asExpected: Object.values(twoNodes).every((count) => count === 0),
      said:
        `One ReadWriteOnce claim, pods Running on two nodes: ${twoNodes.attachments} ` +
        `VolumeAttachments, ${twoNodes.volumesAttached} entries in volumesAttached, ` +
        `${twoNodes.multiAttach} Multi-Attach events.`,
      records: [...notes.seen(observed.podRunning), ...notes.calls('nodePublish')],
    })),
  },
};

const blockedForMs = 6_000;
const podSeen = { volume: z.string(), phase: z.string(), events: z.array(z.string()) };
const modes = {
  ReadWriteOnce: defineNote('ReadWriteOnce', podSeen),
  ReadWriteOncePod: defineNote('ReadWriteOncePod', podSeen),
};

export const sharedMount: Claim = {
  number: 30,
  title: 'Bind mounts over one global mount',
  statement: 'A device is mounted once per node, and several pods may share it.',
  expected:
    'Holds: one NodeStage, two NodePublish, both pods run. ReadWriteOncePod blocks the second.',
  procedure: {
    async act(bench) {
      const node = bench.nodes[0];
      for (const accessMode of ['ReadWriteOnce', 'ReadWriteOncePod'] as const) {
        const short = accessMode === 'ReadWriteOnce' ? 'rwo' : 'rwop';
        const volume = await bench.podOnVolume(short, node, { accessMode });
        const second = await bench.pod(`${short}-two`, { volume, node });
        await bench.pause(blockedForMs);
        const phase = await bench.phase('pod', second);
        const events = await bench.events(second, 'FailedScheduling');
        bench.note(modes[accessMode], { volume, phase, events }, node);
      }
    },
    read: reading(modes, ({ ReadWriteOnce: once, ReadWriteOncePod: pod }, notes) => {
      const of = (call: 'stage' | 'nodePublish'): number =>
        notes.calls(call).filter(({ data }) => data.volume === once.volume).length;
      const [staged, published] = [of('stage'), of('nodePublish')];
      const isShared = once.phase === 'Running' && staged === 1 && published === 2;
      return {
        asExpected: isShared && pod.phase === 'Pending',
        said:
          `ReadWriteOnce: the second pod is ${once.phase}, by ${staged} NodeStage and ` +
          `${published} NodePublish. ReadWriteOncePod: ${pod.phase} (${pod.events[0]}).`,
        records: [...notes.calls('stage'), ...notes.calls('nodePublish')],
      };
    }),
  },
};

/** Claim 26, second half: without an attach phase the second mount comes as soon as there is a pod. */
function mountedAtEviction(run: RecordedRun): ClaimReading {
  if (!isDirectory(run.story.scenario.disk.mode)) return 'this disk is attached';
  const elsewhere = firstOf(run, 'bound');
  const published = firstOf(run, 'pod-mounted');
  if (elsewhere === undefined || published === undefined) return 'no second pod came';
  const attached = firstSeen(run, observed.attachmentCreated);
  return {
    asExpected: attached === undefined,
    said:
      `${run.story.scenario.workload.kind}: second pod at ${since(run, elsewhere.t)}, mounted ` +
      `${((published.t - elsewhere.t) / 1000).toFixed(1)} s later; ` +
      `${attached === undefined ? 'no' : 'a'} VolumeAttachment was made.`,
    evidence: recordLines(run, [elsewhere, published]),
  };
}
