/** Seed 34: the annotation that kept a finished pod's volumes is gone. */
import * as engine from '../../engine/commands.ts';
import { tryRun } from '../../engine/run.ts';
import { observed } from '../../history/observations.ts';
import type { Procedure } from '../seed.ts';
import { answer, endedEarly, Notes } from './read-notes.ts';

const annotation = 'volumes.kubernetes.io/keep-terminated-pod-volumes';

export const keepTerminated: Procedure = {
  async act(bench) {
    const node = bench.nodes[0];
    const annotate = (value: string | null): Promise<unknown> =>
      bench.clients.core.patchNode({
        name: node,
        body: [
          value === null
            ? { op: 'remove', path: `/metadata/annotations/${annotation.replace('/', '~1')}` }
            : { op: 'add', path: `/metadata/annotations/${annotation.replace('/', '~1')}`, value },
        ],
      });
    const flag = '--keep-terminated-pod-volumes=true';
    const kubelet = await tryRun(engine.exec(node, 'kubelet', flag));
    const said = `${kubelet.stdout}\n${kubelet.stderr}`
      .split('\n')
      .find((line) => line.includes('unknown flag'));
    bench.note('flag', { exitCode: kubelet.exitCode, said: said ?? '' }, node);
    await annotate('true');
    try {
      const volume = await bench.volume('done');
      const command = ['sh', '-c', 'echo done > /data/done'];
      const pod = await bench.pod('done', { volume, node, command, restart: 'Never' });
      await bench.wait(
        'the pod has ended',
        async () => (await bench.readPod(pod)).status?.phase === 'Succeeded' || 'it has not',
        60_000,
      );
      const endedMs = performance.now();
      await bench.detached(volume, 60_000).catch(() => undefined);
      const afterS = Math.round((performance.now() - endedMs) / 100) / 10;
      const attachments = (await bench.attachments(volume)).length;
      const { status } = await bench.readPod(pod);
      bench.note('annotated', { attachments, afterS, phase: status?.phase }, node);
    } finally {
      await annotate(null);
    }
  },
  read(records) {
    const notes = new Notes(records);
    const [flag, seen] = [notes.note('flag'), notes.note('annotated')];
    if (flag === undefined || seen === undefined) return endedEarly;
    const { attachments, afterS, phase } = seen.data;
    return answer(
      attachments === 0 && flag.data['exitCode'] !== 0,
      `On the annotated node the ended pod (still ${String(phase)}) kept ` +
        `${String(attachments)} attachments; detached ${String(afterS)} s after its end. ` +
        'kubelet --keep-terminated-pod-volumes ends with ' +
        `${String(flag.data['exitCode'])}: “${String(flag.data['said'])}”.`,
      [flag, seen, ...notes.seen(observed.unmounted), ...notes.seen(observed.attachmentGone)],
    );
  },
};
