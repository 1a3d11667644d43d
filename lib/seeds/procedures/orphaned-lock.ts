/** Seed 5: a node dies while nobody is there to tell the storage. */
import { releaseNode } from '../../cluster/kind/disk/disk-tool.ts';
import type { Procedure } from '../seed.ts';
import { answer, endedEarly, Notes } from './read-notes.ts';

export const orphanedLock: Procedure = {
  async act(bench) {
    const node = bench.nodes[1];
    const machine = bench.cluster.machine(node);
    const volume = await bench.volume('orphan');
    await bench.running(await bench.pod('orphan', { volume, node }));
    const { nodeMonitorGraceMs, forceDetachAfterMs } = bench.cluster.timers;
    const watchMs = nodeMonitorGraceMs + forceDetachAfterMs + 5_000;
    await bench.controllerManager.stop();
    await machine.kill();
    await bench.pause(watchMs);
    const attachments = await bench.attachments(volume);
    const { status } = await bench.clients.core.readNode({ name: node });
    const ready = status?.conditions?.find(({ type }) => type === 'Ready')?.status;
    bench.note('nobody notices', { watchMs, attachments, ready }, node);
    await releaseNode(bench.cluster.lab, node);
    await bench.controllerManager.start();
    await machine.start();
  },
  read(records) {
    const seen = new Notes(records).note('nobody notices');
    if (seen === undefined) return endedEarly;
    const { attachments, watchMs, ready } = seen.data;
    const locked = Array.isArray(attachments) && attachments.length === 1;
    return answer(
      locked && ready === 'True',
      `${Number(watchMs) / 1000} s after the node’s death, longer than grace and ` +
        `forced detach together, ${Array.isArray(attachments) ? attachments.length : 0} ` +
        'VolumeAttachment still names it, and its Ready condition still says ' +
        `${String(ready)}.`,
      [seen],
    );
  },
};
