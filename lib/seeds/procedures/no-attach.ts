/** Seed 26: a shared directory has no attach phase, and so nothing that gates it. */
import { observed } from '../../history/observations.ts';
import type { Procedure } from '../seed.ts';
import { answer, endedEarly, Notes } from './read-notes.ts';

export const noAttach: Procedure = {
  async act(bench) {
    const [first, second] = bench.nodes;
    const volume = await bench.volume('files', { disk: 'shared-file' });
    await bench.running(await bench.pod('files-one', { volume, node: first }));
    const pod = await bench.pod('files-two', { volume, node: second });
    await bench.running(pod);
    const nodes = await Promise.all(
      bench.nodes.map((name) => bench.clients.core.readNode({ name })),
    );
    const listed = nodes
      .flatMap(({ status }) => status?.volumesAttached ?? [])
      .filter(({ name }) => name.endsWith(volume.name));
    bench.note('two nodes', {
      attachments: (await bench.attachments(volume)).length,
      volumesAttached: listed.length,
      multiAttach: (await bench.events(pod, 'FailedAttachVolume')).length,
    });
  },
  read(records) {
    const notes = new Notes(records);
    const seen = notes.note('two nodes');
    if (seen === undefined) return endedEarly;
    const { attachments, volumesAttached, multiAttach } = seen.data;
    const counts = [attachments, volumesAttached, multiAttach].map(Number);
    return answer(
      counts.every((count) => count === 0),
      `One ReadWriteOnce claim, pods Running on two nodes: ${counts[0]} ` +
        `VolumeAttachments, ${counts[1]} entries in volumesAttached, ${counts[2]} ` +
        'Multi-Attach events.',
      [seen, ...notes.seen(observed.podRunning), ...notes.calls('nodePublish')],
    );
  },
};
