/** Seed 18: a VolumeAttachment deleted by hand under a pod that runs. */
import { observed } from '../../history/observations.ts';
import type { Procedure } from '../seed.ts';
import { answer, endedEarly, Notes } from './read-notes.ts';

const watchMs = 130_000;

export const deletedByHand: Procedure = {
  async act(bench) {
    const node = bench.nodes[0];
    const volume = await bench.volume('hand');
    const pod = await bench.pod('hand', { volume, node });
    await bench.running(pod);
    const [attachment] = await bench.attachments(volume);
    if (attachment === undefined) return;
    await bench.clients.storage.deleteVolumeAttachment({ name: attachment.name });
    const deletedMs = performance.now();
    bench.note('deleted', attachment, node);
    await bench.detached(volume, 30_000);
    const back = async (): Promise<true | string> =>
      (await bench.attachments(volume)).some(({ attached }) => attached) || 'not attached';
    const isBack = await bench.wait('it is attached again', back, watchMs).catch(() => false);
    const afterS = Math.round((performance.now() - deletedMs) / 100) / 10;
    const { status } = await bench.readPod(pod);
    bench.note('reconciled', { isBack, afterS, phase: status?.phase }, node);
  },
  read(records) {
    const notes = new Notes(records);
    const [deleted, seen] = [notes.note('deleted'), notes.note('reconciled')];
    if (deleted === undefined || seen === undefined) return endedEarly;
    const { isBack, afterS, phase } = seen.data;
    return answer(
      isBack === true,
      `The driver was told to detach a volume in use; ${isBack === true ? `the controller attached it again ${String(afterS)} s after the deletion` : `it was not attached again in ${watchMs / 1000} s`}, and the pod was ${String(phase)} throughout.`,
      [
        deleted,
        seen,
        ...notes.calls('unpublish').slice(0, 1),
        ...notes.seen(observed.attachmentCreated),
        ...notes.seen(observed.attachmentGone),
      ],
    );
  },
};
