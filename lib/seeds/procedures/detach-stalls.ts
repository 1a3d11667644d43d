/** Seed 33: the attacher stands still in the middle of a detach. */
import { kindControlPlane } from '../../cluster/kind/create/control-plane.ts';
import type { Procedure } from '../seed.ts';
import { answer, endedEarly, Notes } from './read-notes.ts';

const stallMs = 20_000;

export const detachStalls: Procedure = {
  async act(bench) {
    const node = bench.nodes[0];
    const controlPlane = kindControlPlane(bench.cluster.controlPlane);
    const volume = await bench.volume('late');
    const pod = await bench.pod('late', { volume, node });
    await bench.running(pod);
    try {
      await controlPlane.stall('attacher');
      await bench.delete(pod);
      await bench.podGone(pod);
      await bench.pause(stallMs);
      const { items } = await bench.clients.storage.listVolumeAttachment();
      const left = items.find(({ spec }) => spec.source.persistentVolumeName === volume.name);
      const deleting = left?.metadata?.deletionTimestamp !== undefined;
      bench.note('attacher stopped', { deleting, finalizers: left?.metadata?.finalizers ?? null });
    } finally {
      await controlPlane.resume('attacher');
    }
    const resumedMs = performance.now();
    await bench.detached(volume, 120_000);
    bench.note('it goes on', { afterS: Math.round((performance.now() - resumedMs) / 100) / 10 });
  },
  read(records) {
    const notes = new Notes(records);
    const [stopped, resumed] = [notes.note('attacher stopped'), notes.note('it goes on')];
    if (stopped === undefined || resumed === undefined) return endedEarly;
    return answer(
      stopped.data['deleting'] === true,
      `With the attacher stopped the VolumeAttachment stayed for ${stallMs / 1000} s, ` +
        `marked for deletion: ${String(stopped.data['deleting'])}, held by ` +
        `${String(stopped.data['finalizers'])}; it was gone ` +
        `${String(resumed.data['afterS'])} s after the attacher went on.`,
      [stopped, resumed, ...notes.calls('unpublish')],
    );
  },
};
