/** Seed 30: two pods of one claim on one node, and the mode that forbids it. */
import type { Procedure } from '../seed.ts';
import { answer, endedEarly, Notes } from './read-notes.ts';

const watchMs = 6_000;

export const sharedMount: Procedure = {
  async act(bench) {
    const node = bench.nodes[0];
    for (const accessMode of ['ReadWriteOnce', 'ReadWriteOncePod'] as const) {
      const short = accessMode === 'ReadWriteOnce' ? 'rwo' : 'rwop';
      const volume = await bench.volume(short, { accessMode });
      await bench.running(await bench.pod(`${short}-one`, { volume, node }));
      const second = await bench.pod(`${short}-two`, { volume, node });
      await bench.pause(watchMs);
      const { status } = await bench.readPod(second);
      const events = await bench.events(second, 'FailedScheduling');
      bench.note(accessMode, { volume: volume.name, phase: status?.phase, events }, node);
    }
  },
  read(records) {
    const notes = new Notes(records);
    const [once, pod] = [notes.note('ReadWriteOnce'), notes.note('ReadWriteOncePod')];
    if (once === undefined || pod === undefined) return endedEarly;
    const of = (calls: 'stage' | 'nodePublish'): number =>
      notes.calls(calls).filter(({ data }) => data['volume'] === once.data['volume']).length;
    return answer(
      once.data['phase'] === 'Running' &&
        of('stage') === 1 &&
        of('nodePublish') === 2 &&
        pod.data['phase'] === 'Pending',
      `ReadWriteOnce: the second pod is ${String(once.data['phase'])}, by ` +
        `${of('stage')} NodeStage and ${of('nodePublish')} NodePublish. ` +
        `ReadWriteOncePod: ${String(pod.data['phase'])} ` +
        `(${String((pod.data['events'] as unknown[])[0])}).`,
      [once, pod, ...notes.calls('stage'), ...notes.calls('nodePublish')],
    );
  },
};
