/** Claims on flags, annotations and settings that articles turn. */
import { z } from 'zod';
import { csiCalls, observed } from '../../../lib/history/index.ts';
import type { Procedure, Claim } from '../claim.ts';
import type { Bench } from './bench.ts';
import { attachment, defineNote, reading } from './notes.ts';

/** `said`: the line that refuses it, empty where none does. */
const refused = defineNote('flag', { exitCode: z.number(), said: z.string() });

async function noteRefusal(bench: Bench, node: string, argv: readonly string[]): Promise<void> {
  const { exitCode, stdout, stderr } = await bench.testbed.shell(node).run(argv);
  const lines = `${stdout}\n${stderr}`.split('\n');
  const said = lines.find((line) => line.includes('unknown flag')) ?? '';
  bench.note(refused, { exitCode, said }, node);
}

const program = 'kube-controller-manager';
/** Its image has no shell. */
const script = `pid=$(pidof ${program}) && chroot "/proc/\${pid%% *}/root" "$@"`;

export const refusesEvictionTimeout: Procedure = {
  act: (bench) =>
    noteRefusal(bench, bench.testbed.cluster.controlPlane, [
      ...['sh', '-c', script, 'sh', program, '--pod-eviction-timeout=5m0s'],
    ]),
  read: reading({ refused }, ({ refused: { exitCode, said } }) => ({
    asExpected: exitCode !== 0 && said !== '',
    said: `kube-controller-manager --pod-eviction-timeout=5m0s ends with ${exitCode}: “${said}”.`,
  })),
};

const path = '/metadata/annotations/volumes.kubernetes.io~1keep-terminated-pod-volumes';
const annotated = defineNote('annotated', {
  attachments: z.number(),
  afterS: z.number(),
  phase: z.string(),
});

export const keepTerminated: Claim = {
  number: 34,
  title: 'keep-terminated-pod-volumes',
  statement: 'A node with that annotation keeps the volumes of pods that have ended.',
  expected: 'Changed: flag and annotation are gone; the volume is detached.',
  procedure: {
    async act(bench) {
      const { core } = bench.testbed.clients;
      const name = bench.nodes[0];
      await noteRefusal(bench, name, ['kubelet', '--keep-terminated-pod-volumes=true']);
      await core.patchNode({ name, body: [{ op: 'add', path, value: 'true' }] });
      try {
        await endsOn(bench, name);
      } finally {
        await core.patchNode({ name, body: [{ op: 'remove', path }] });
      }
    },
    read: reading({ refused, annotated }, ({ refused, annotated }, notes) => ({
      asExpected: annotated.attachments === 0 && refused.exitCode !== 0,
      said:
        `On the annotated node the ended pod (still ${annotated.phase}) kept ` +
        `${annotated.attachments} attachments; detached ${annotated.afterS} s after its end. ` +
        `kubelet --keep-terminated-pod-volumes ends with ${refused.exitCode}: “${refused.said}”.`,
      records: [...notes.seen(observed.unmounted), ...notes.seen(observed.attachmentGone)],
    })),
  },
};

async function endsOn(bench: Bench, node: string): Promise<void> {
  const volume = await bench.volume('done');
  const command = ['sh', '-c', 'echo done > /data/done'];
  const pod = await bench.pod('done', { volume, node, command, restart: 'Never' });
  await bench.until('pod', pod, 'Succeeded');
  const afterS = await bench.seconds(() => bench.inTime(bench.detached(volume)));
  const attachments = (await bench.attachments(volume)).length;
  bench.note(annotated, { attachments, afterS, phase: await bench.phase('pod', pod) }, node);
}

const key = 'volumes.kubernetes.io/controller-managed-attach-detach';
const config = '/var/lib/kubelet/config.yaml';
const watchMs = 25_000;
const annotation = z.string().nullable();
const messages = z.array(z.string());
const stock = defineNote('stock', { annotation });
const own = defineNote('kubelet attaches', {
  ...{ annotation, phase: z.string(), attachments: z.array(attachment) },
  ...{ failures: messages, attachFailures: messages },
});
const again = defineNote('stock again', { annotation });

export const kubeletAttach: Claim = {
  number: 4,
  title: 'Attach by the controller or by kubelet',
  statement:
    'An annotation of the node says who attaches; `enableControllerAttachDetach` ' +
    'makes kubelet do it.',
  expected:
    'The default holds (the controller). With false the annotation goes away and ' +
    'kubelet would attach; for CSI that fails, the pod does not start.',
  procedure: {
    async act(bench) {
      const node = bench.nodes[1];
      const annotated = async () => ({ annotation: await annotationOf(bench, node) });
      const volume = await bench.volume('own');
      bench.note(stock, await annotated(), node);
      try {
        await setOwnAttach(bench, node, true);
        const pod = await bench.pod('own', { volume, node });
        await bench.pause(watchMs);
        const phase = await bench.phase('pod', pod);
        const attachments = await bench.attachments(volume);
        const failures = await bench.events(pod, 'FailedMount');
        const attachFailures = await bench.events(pod, 'FailedAttachVolume');
        const seen = { phase, attachments, failures, attachFailures };
        bench.note(own, { ...(await annotated()), ...seen }, node);
        await bench.remove(pod);
      } finally {
        await setOwnAttach(bench, node, false);
      }
      bench.note(again, await annotated(), node);
    },
    read: reading({ stock, own }, ({ stock, own }, notes) => ({
      asExpected: stock.annotation === 'true' && own.annotation === null && own.phase === 'Pending',
      said:
        `Stock: annotation ${stock.annotation}. With enableControllerAttachDetach false: annotation ` +
        `${own.annotation}, ${notes.calls('publish').length} ${csiCalls.publish} calls, pod ` +
        `${own.phase} after ${watchMs / 1000} s; it says: ` +
        `${[...own.failures, ...own.attachFailures][0] ?? 'nothing'}.`,
    })),
  },
};

/** Null where there is none. */
async function annotationOf(bench: Bench, node: string): Promise<string | null> {
  const { metadata } = await bench.testbed.clients.core.readNode({ name: node });
  return metadata?.annotations?.[key] ?? null;
}

async function setOwnAttach(bench: Bench, node: string, own: boolean): Promise<void> {
  const field = 'enableControllerAttachDetach';
  const drop = `/^${field}/d`;
  const edit = own ? `${drop}; $a ${field}: false` : drop;
  await bench.testbed.shell(node).run(['sed', '-i', edit, config]);
  await bench.testbed.machine(node).restartKubelet();
  const expected = own ? null : 'true';
  await bench.wait(
    `kubelet of ${node} has registered anew`,
    async () => (await annotationOf(bench, node)) === expected || 'the annotation is as it was',
  );
}
