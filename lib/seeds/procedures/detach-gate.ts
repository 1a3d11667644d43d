/** Seed 7: a node that is well and does not get its volume unmounted. */
import { holdCall, letGoCalls } from '../../cluster/kind/disk/disk-tool.ts';
import { kubernetesOf } from '../../cluster/kind/kubernetes.ts';
import { csiCalls, observed } from '../../history/observations.ts';
import { outOfServiceKey } from '../../remedy-kinds.ts';
import type { Procedure } from '../seed.ts';
import { answer, endedEarly, Notes } from './read-notes.ts';

const taint = {
  key: outOfServiceKey,
  value: 'nodeshutdown',
  effect: 'NoExecute',
} as const;

export const detachGate: Procedure = {
  async act(bench) {
    const node = bench.nodes[1];
    const kubernetes = kubernetesOf(bench.clients, bench.cluster.controlPlane);
    const volume = await bench.volume('stuck');
    const pod = await bench.pod('stuck', { volume, node });
    await bench.running(pod);
    await holdCall(bench.cluster.lab, { node, call: csiCalls.nodeUnpublish, volume: volume.name });
    await bench.delete(pod);
    const watchMs = bench.cluster.timers.forceDetachAfterMs + 15_000;
    await bench.pause(watchMs);
    const ready = await kubernetes.isReady(node);
    bench.note(
      'unmount hangs',
      { watchMs, ready, attachments: await bench.attachments(volume) },
      node,
    );
    try {
      await kubernetes.taint(node, taint);
      const taintedMs = performance.now();
      await bench.detached(volume, 30_000).catch(() => undefined);
      const afterS = Math.round((performance.now() - taintedMs) / 100) / 10;
      const attachments = await bench.attachments(volume);
      const stillReady = await kubernetes.isReady(node);
      bench.note('out-of-service', { afterS, attachments, ready: stillReady }, node);
    } finally {
      await kubernetes.untaint(node, taint.key);
      await letGoCalls(bench.cluster.lab);
    }
  },
  read(records) {
    const notes = new Notes(records);
    const [held, tainted] = [notes.note('unmount hangs'), notes.note('out-of-service')];
    if (held === undefined || tainted === undefined) return endedEarly;
    const count = (of: typeof held): number => (of.data['attachments'] as unknown[]).length;
    const unmounted = notes.seen(observed.unmounted).find(({ t }) => t <= tainted.t);
    return answer(
      count(held) === 1 && held.data['ready'] === true && count(tainted) === 0,
      'With NodeUnpublish hanging on a Ready node the volume stayed attached for ' +
        `${Number(held.data['watchMs']) / 1000} s, beyond the timer. The out-of-service ` +
        `taint on the same Ready node detached it ${String(tainted.data['afterS'])} s ` +
        `later, ${unmounted === undefined ? 'still mounted' : 'unmounted by then'}.`,
      [
        held,
        tainted,
        ...notes.calls('unpublish'),
        ...notes.calls('nodeUnpublish'),
        ...notes.seen(observed.forceDetachLog),
      ],
    );
  },
};
