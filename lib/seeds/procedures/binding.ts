/** Seed 32: which volume a claim gets, when, and how that is marked. */
import type { Procedure } from '../seed.ts';
import { apply } from '../../cluster/kind/kube.ts';
import type { Bench } from './bench.ts';
import {
  claimPhase,
  isClaim,
  isVolume,
  makeBareVolume,
  makeClaim,
  readClaim,
} from './bare-volume.ts';
import { labels } from './pod.ts';
import { answer, endedEarly, Notes } from './read-notes.ts';

export const walkBinding: Procedure = {
  async act(bench) {
    await smallestFit(bench);
    await delayed(bench);
    await provisioned(bench);
  },
  read(records) {
    const notes = new Notes(records);
    const [fit, waits, asked] = [
      notes.note('fit'),
      notes.note('delayed'),
      notes.note('provisioner'),
    ];
    if (!fit || !waits || !asked) return endedEarly;
    const annotations = asked.data['annotations'] as Record<string, string>;
    const named = [
      'volume.kubernetes.io/storage-provisioner',
      'volume.beta.kubernetes.io/storage-provisioner',
    ];
    const found = named.filter((name) => annotations[name] !== undefined);
    return answer(
      fit.data['mib'] === 32 &&
        waits.data['before'] === 'Pending' &&
        waits.data['after'] === 'Bound' &&
        found.length === 2,
      'A claim of 20 MiB among volumes of 16, 32 and 64 got the one of ' +
        `${String(fit.data['mib'])}, marked ${String(fit.data['marks'])}. ` +
        `WaitForFirstConsumer: ${String(waits.data['before'])} without a pod, ` +
        `${String(waits.data['after'])} with one. A class with a provisioner: claim ` +
        `${String(asked.data['phase'])}, annotated ${found.join(' and ')}; CreateVolume ` +
        'not measured.',
      [fit, waits, asked],
    );
  },
};

async function smallestFit(bench: Bench): Promise<void> {
  // A class of its own, so that no other claim can take them.
  const storageClass = bench.named('fit');
  for (const mib of [64, 16, 32]) {
    const name = bench.named(`fit-${mib}`);
    await makeBareVolume(bench, name, { mib, storageClass });
    await isVolume(bench, name, 'Available');
  }
  const name = bench.named('fit');
  await makeClaim(bench, name, { mib: 20, storageClass });
  await isClaim(bench, name, 'Bound');
  const { spec, metadata } = await readClaim(bench, name);
  const marks = Object.keys(metadata?.annotations ?? {}).filter((key) => key.startsWith('pv.'));
  bench.note('fit', { mib: Number(spec?.volumeName?.split('-').at(-1)), marks });
}

async function delayed(bench: Bench): Promise<void> {
  const name = bench.named('delayed');
  await makeClass(bench, name, 'WaitForFirstConsumer', 'kubernetes.io/no-provisioner');
  const volume = await bench.volume('delayed', { storageClass: name });
  await bench.pause(4_000);
  const before = await claimPhase(bench, volume.name);
  await bench.pod('delayed', { volume });
  await isClaim(bench, volume.name, 'Bound');
  bench.note('delayed', { before, after: await claimPhase(bench, volume.name) });
}

async function provisioned(bench: Bench): Promise<void> {
  const name = bench.named('class');
  await makeClass(bench, name, 'Immediate', 'disk.forcedetach.dev');
  await makeClaim(bench, name, { mib: 16, storageClass: name });
  await bench.pause(4_000);
  const { metadata } = await readClaim(bench, name);
  const annotations = metadata?.annotations ?? {};
  bench.note('provisioner', { phase: await claimPhase(bench, name), annotations });
}

function makeClass(
  { clients }: Bench,
  name: string,
  volumeBindingMode: string,
  provisioner: string,
): Promise<void> {
  const about = { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass' };
  const storageClass = { ...about, metadata: { name, labels }, provisioner, volumeBindingMode };
  return apply(clients, [storageClass]);
}
