/** Seed 29: one mount hangs, and other pods start on the same node. */
import { holdCall, letGoCalls } from '../../cluster/kind/disk/disk-tool.ts';
import { csiCalls } from '../../history/observations.ts';
import type { Procedure } from '../seed.ts';
import type { Bench } from './bench.ts';
import { answer, endedEarly, Notes } from './read-notes.ts';

export const hangingMount: Procedure = {
  async act(bench) {
    const node = bench.nodes[0];
    const [stuck, free] = [await bench.volume('stuck'), await bench.volume('free')];
    await holdCall(bench.cluster.lab, { node, call: csiCalls.stage, volume: stuck.name });
    const waiting = await bench.pod('stuck', { volume: stuck, node });
    await bench.pause(4_000);
    const timed = async (name: string, pod: Promise<string>): Promise<void> => {
      const madeMs = performance.now();
      await bench.running(await pod);
      const afterS = Math.round((performance.now() - madeMs) / 100) / 10;
      bench.note('started', { name, afterS, stuck: await phaseOf(bench, waiting) }, node);
    };
    await timed('a pod with another volume', bench.pod('free', { volume: free, node }));
    await timed('a pod without a volume', bench.pod('bare', { node }));
    await letGoCalls(bench.cluster.lab);
    await timed('the stuck one, let go', Promise.resolve(waiting));
  },
  read(records) {
    const notes = new Notes(records);
    const started = notes.all('started');
    const [volume, bare, last] = started;
    if (!volume || !bare || !last) return endedEarly;
    const told = started.map(
      ({ data }) => `${String(data['name'])} after ${String(data['afterS'])} s`,
    );
    return answer(
      volume.data['stuck'] === 'Pending' && bare.data['stuck'] === 'Pending',
      `While one NodeStage hung, these ran: ${told.join('; ')}.`,
      [...started, ...notes.calls('stage')],
    );
  },
};

const phaseOf = async (bench: Bench, pod: string): Promise<string> =>
  (await bench.readPod(pod)).status?.phase ?? 'unknown';
