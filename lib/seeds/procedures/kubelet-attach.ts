/** Seed 4: one node whose kubelet is told to attach by itself. */
import * as engine from '../../engine/commands.ts';
import { run } from '../../engine/run.ts';
import { csiCalls } from '../../history/observations.ts';
import type { Procedure } from '../seed.ts';
import type { Bench } from './bench.ts';
import { answer, endedEarly, Notes } from './read-notes.ts';

const annotation = 'volumes.kubernetes.io/controller-managed-attach-detach';
const config = '/var/lib/kubelet/config.yaml';
const watchMs = 25_000;

export const kubeletAttach: Procedure = {
  async act(bench) {
    const node = bench.nodes[1];
    const volume = await bench.volume('own');
    bench.note('stock', { annotation: await annotationOf(bench, node) }, node);
    try {
      await setOwnAttach(bench, node, true);
      const pod = await bench.pod('own', { volume, node });
      await bench.pause(watchMs);
      const { status } = await bench.readPod(pod);
      const attachments = await bench.attachments(volume);
      const failures = await bench.events(pod, 'FailedMount');
      const attachFailures = await bench.events(pod, 'FailedAttachVolume');
      const seen = { annotation: await annotationOf(bench, node), phase: status?.phase };
      bench.note('kubelet attaches', { ...seen, attachments, failures, attachFailures }, node);
      await bench.delete(pod);
      await bench.podGone(pod);
    } finally {
      await setOwnAttach(bench, node, false);
    }
    bench.note('stock again', { annotation: await annotationOf(bench, node) }, node);
  },
  read(records) {
    const notes = new Notes(records);
    const [stock, own] = [notes.note('stock'), notes.note('kubelet attaches')];
    if (stock === undefined || own === undefined) return endedEarly;
    const published = notes.calls('publish').length;
    const { phase, failures, attachFailures } = own.data;
    const said = [failures, attachFailures].flat().map(String);
    return answer(
      stock.data['annotation'] === 'true' && own.data['annotation'] === null && phase === 'Pending',
      `Stock: annotation ${String(stock.data['annotation'])}. With ` +
        'enableControllerAttachDetach false: annotation ' +
        `${String(own.data['annotation'])}, ${published} ${csiCalls.publish} calls, pod ` +
        `${String(phase)} after ${watchMs / 1000} s; it says: ${said[0] ?? 'nothing'}.`,
      [stock, own, notes.note('stock again')],
    );
  },
};

/** Null where there is none. */
async function annotationOf({ clients }: Bench, node: string): Promise<string | null> {
  const { metadata } = await clients.core.readNode({ name: node });
  return metadata?.annotations?.[annotation] ?? null;
}

async function setOwnAttach(bench: Bench, node: string, own: boolean): Promise<void> {
  const line = 'enableControllerAttachDetach: false';
  const drop = `sed -i '/^enableControllerAttachDetach/d' ${config}`;
  const add = own ? ` && echo '${line}' >> ${config}` : '';
  await run(engine.shell(node, `${drop}${add} && systemctl restart kubelet`));
  const expected = own ? null : 'true';
  await bench.wait(
    `kubelet of ${node} has registered anew`,
    async () => (await annotationOf(bench, node)) === expected || 'the annotation is as it was',
    60_000,
  );
}
