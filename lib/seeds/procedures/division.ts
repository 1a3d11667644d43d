/** Seed 2: who attaches and who mounts, by taking each of them away. */
import type { Procedure } from '../seed.ts';
import type { Bench } from './bench.ts';
import { answer, endedEarly, Notes } from './read-notes.ts';

const watchMs = 10_000;

export const division: Procedure = {
  async act(bench) {
    const [first, second] = bench.nodes;
    await withoutControllerManager(bench, first);
    await withoutKubelet(bench, second);
  },
  read(records) {
    const notes = new Notes(records);
    const [off, on] = [notes.note('controller manager stopped'), notes.note('it runs again')];
    const [stalled, resumed] = [notes.note('kubelet stopped'), notes.note('it goes on')];
    if (!off || !on || !stalled || !resumed) return endedEarly;
    const noAttach = off.data['attachments'] === 0;
    const noMount = stalled.data['attached'] === true && stalled.data['phase'] === 'Pending';
    return answer(
      noAttach && noMount,
      `Without the controller manager: ${String(off.data['attachments'])} attachments ` +
        `in ${watchMs / 1000} s; the pod ran ${String(on.data['afterS'])} s after it was ` +
        `back. Without kubelet: attached ${String(stalled.data['attached'])}, pod ` +
        `${String(stalled.data['phase'])} for ${watchMs / 1000} s; it ran ` +
        `${String(resumed.data['afterS'])} s after kubelet went on.`,
      [off, on, stalled, resumed, ...notes.calls('publish'), ...notes.calls('stage')],
    );
  },
};

async function withoutControllerManager(bench: Bench, node: string): Promise<void> {
  const volume = await bench.volume('attach');
  await bench.controllerManager.stop();
  const pod = await bench.pod('attach', { volume, node, bound: true });
  await bench.pause(watchMs);
  const attachments = (await bench.attachments(volume)).length;
  bench.note('controller manager stopped', { attachments, phase: await phaseOf(bench, pod) });
  const backMs = performance.now();
  await bench.controllerManager.start();
  await bench.running(pod, 120_000);
  bench.note('it runs again', { afterS: secondsSince(backMs) });
}

async function withoutKubelet(bench: Bench, node: string): Promise<void> {
  const volume = await bench.volume('mount');
  const machine = bench.cluster.machine(node);
  await machine.stall('kubelet');
  const pod = await bench.pod('mount', { volume, node, bound: true });
  await bench.pause(watchMs);
  const attached = (await bench.attachments(volume)).some((each) => each.attached);
  bench.note('kubelet stopped', { attached, phase: await phaseOf(bench, pod) }, node);
  const backMs = performance.now();
  await machine.resume();
  await bench.running(pod, 120_000);
  bench.note('it goes on', { afterS: secondsSince(backMs) }, node);
}

const phaseOf = async (bench: Bench, pod: string): Promise<string> =>
  (await bench.readPod(pod)).status?.phase ?? 'unknown';

const secondsSince = (sinceMs: number): number =>
  Math.round((performance.now() - sinceMs) / 100) / 10;
