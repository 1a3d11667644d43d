/** Seed 19: the node's status while a volume comes and goes. */
import type { Procedure } from '../seed.ts';
import type { Bench } from './bench.ts';
import { answer, endedEarly, Notes } from './read-notes.ts';
import type { SeedVolume } from './volume.ts';

export const statusFields: Procedure = {
  async act(bench) {
    const node = bench.nodes[0];
    const volume = await bench.volume('status');
    await look(bench, 'before', node, volume);
    const pod = await bench.pod('status', { volume, node });
    await bench.running(pod);
    await look(bench, 'running', node, volume);
    await bench.delete(pod);
    await bench.podGone(pod);
    await bench.detached(volume);
    await look(bench, 'after', node, volume);
  },
  read(records) {
    const notes = new Notes(records);
    const [before, running, after] = ['before', 'running', 'after'].map((name) => notes.note(name));
    if (!before || !running || !after) return endedEarly;
    const name = `kubernetes.io/csi/disk.forcedetach.dev^${String(running.data['volume'])}`;
    const none = [before, after].every(
      ({ data }) => data['attached'] === null && data['inUse'] === false,
    );
    return answer(
      none &&
        running.data['attached'] === name &&
        running.data['devicePath'] === '' &&
        running.data['inUse'] === true,
      `While the pod runs volumesAttached has ${String(running.data['attached'])} with ` +
        `devicePath “${String(running.data['devicePath'])}”, volumesInUse the same name: ` +
        `${String(running.data['inUse'])}; before and after both are empty of it: ` +
        `${String(none)}.`,
      [before, running, after],
    );
  },
};

async function look(bench: Bench, when: string, node: string, volume: SeedVolume): Promise<void> {
  const { status } = await bench.clients.core.readNode({ name: node });
  const attached = status?.volumesAttached?.find(({ name }) => name.endsWith(`^${volume.name}`));
  const inUse = status?.volumesInUse?.some((name) => name === attached?.name) ?? false;
  const { name = null, devicePath = null } = attached ?? {};
  bench.note(when, { volume: volume.name, attached: name, devicePath, inUse }, node);
}
