/** Seed 3: whether a backend lets a second node in, with Kubernetes' own gate switched off. */
import type { DiskMode } from '../../disk-modes/index.ts';
import { observed } from '../../history/observations.ts';
import type { Procedure } from '../seed.ts';
import type { Bench } from './bench.ts';
import { answer, endedEarly, Notes } from './read-notes.ts';

const refusedForMs = 8_000;

export const twoNodesAttach: Procedure = {
  async act(bench) {
    await tryBoth(bench, 'unfenced');
    await tryBoth(bench, 'pending-while-busy');
  },
  read(records) {
    const notes = new Notes(records);
    const tried = notes.all('second node');
    const [permissive, exclusive] = tried;
    if (permissive === undefined || exclusive === undefined) return endedEarly;
    const refused = notes
      .calls('publish')
      .filter(
        ({ data }) => data['error'] !== undefined && data['volume'] === exclusive.data['volume'],
      );
    return answer(
      permissive.data['phase'] === 'Running' &&
        exclusive.data['phase'] === 'Pending' &&
        refused.length > 0,
      `unfenced: the second node’s pod is ${String(permissive.data['phase'])}. ` +
        `pending-while-busy: ${String(exclusive.data['phase'])}, ControllerPublish ` +
        `refused ${refused.length} times in ${refusedForMs / 1000} s ` +
        `(${String(refused[0]?.data['error'])}).`,
      [...tried, ...notes.seen(observed.mounted), ...refused.slice(0, 2)],
    );
  },
};

async function tryBoth(bench: Bench, disk: DiskMode): Promise<void> {
  const [first, second] = bench.nodes;
  const volume = await bench.volume(disk, { disk, accessMode: 'ReadWriteMany' });
  await bench.running(await bench.pod(`${disk}-one`, { volume, node: first }));
  const pod = await bench.pod(`${disk}-two`, { volume, node: second });
  await bench.pause(refusedForMs);
  const { status } = await bench.readPod(pod);
  const events = await bench.events(pod, 'FailedAttachVolume');
  const seen = { disk, volume: volume.name, phase: status?.phase, events };
  bench.note('second node', seen, second);
}
