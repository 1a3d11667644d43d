/** Seed 31: a volume and its claim, walked through their phases. */
import type { Procedure } from '../seed.ts';
import { namespace, type Bench } from './bench.ts';
import {
  claimPhase,
  isClaim,
  isVolume,
  makeBareVolume,
  makeClaim,
  volumePhase,
} from './bare-volume.ts';
import { answer, endedEarly, Notes } from './read-notes.ts';

export const walkPhases: Procedure = {
  async act(bench) {
    const name = bench.named('walk');
    await makeBareVolume(bench, name, { mib: 16 });
    bench.note('volume', { step: 'made', phase: await volumePhase(bench, name) });
    await isVolume(bench, name, 'Available');
    await makeClaim(bench, name, { mib: 16 });
    await isClaim(bench, name, 'Bound');
    bench.note('volume', { step: 'claimed', phase: await volumePhase(bench, name) });
    await deleteClaim(bench, name);
    await isVolume(bench, name, 'Released');
    await bench.clients.core.patchPersistentVolume({
      name,
      body: [{ op: 'remove', path: '/spec/claimRef' }],
    });
    await isVolume(bench, name, 'Available');
    bench.note('volume', { step: 'claimRef removed', phase: 'Available' });
    await loseClaim(bench, name);
    await recycle(bench);
  },
  read(records) {
    const notes = new Notes(records);
    const [walked, lost, recycled] = [
      notes.all('volume'),
      notes.note('lost'),
      notes.note('recycled'),
    ];
    if (walked.length < 3 || !lost || !recycled) return endedEarly;
    const told = walked
      .map(({ data }) => `${String(data['step'])} ${String(data['phase'])}`)
      .join(', ');
    return answer(
      lost.data['whileDeleting'] === 'Bound' &&
        lost.data['after'] === 'Lost' &&
        recycled.data['phase'] === 'Failed',
      `Volume: ${told}, Released in between. Its deletion under a claim leaves the ` +
        `claim ${String(lost.data['whileDeleting'])} until the finalizer is gone, then ` +
        `${String(lost.data['after'])}. Recycle with a CSI volume: ` +
        `${String(recycled.data['phase'])} (${String(recycled.data['message'])}).`,
      [...walked, lost, recycled],
    );
  },
};

/** Deletes the volume under its claim. */
async function loseClaim(bench: Bench, name: string): Promise<void> {
  await makeClaim(bench, name, { mib: 16 });
  await isClaim(bench, name, 'Bound');
  await bench.clients.core.deletePersistentVolume({ name });
  await bench.pause(2_000);
  const whileDeleting = await claimPhase(bench, name);
  await bench.clients.core.patchPersistentVolume({
    name,
    body: [{ op: 'remove', path: '/metadata/finalizers' }],
  });
  await isClaim(bench, name, 'Lost');
  bench.note('lost', { whileDeleting, after: await claimPhase(bench, name) });
  await deleteClaim(bench, name);
}

async function recycle(bench: Bench): Promise<void> {
  const name = bench.named('recycle');
  await makeBareVolume(bench, name, { mib: 16, reclaim: 'Recycle' });
  await makeClaim(bench, name, { mib: 16 });
  await isClaim(bench, name, 'Bound');
  await deleteClaim(bench, name);
  await isVolume(bench, name, 'Failed');
  const { status } = await bench.clients.core.readPersistentVolume({ name });
  bench.note('recycled', { phase: status?.phase, message: status?.message });
}

async function deleteClaim({ clients }: Bench, name: string): Promise<void> {
  await clients.core.deleteNamespacedPersistentVolumeClaim({ name, namespace });
}
