/** Claims on volumes and claims of the API: their phases, and how they find each other. */
import { z } from 'zod';
import { procedures } from '../../../lib/kind/index.ts';
import { apply } from '../../../lib/core/index.ts';
import { claimObject, classObject, volumeObject } from './objects.ts';
import { driverName } from '../../../lib/storage/index.ts';
import type { Claim } from '../claim.ts';
import type { Bench } from './bench.ts';
import { endedEarly, defineNote, reading } from './notes.ts';

const { namespace } = procedures;

const choice = { mib: 16 };
const phase = z.string();
const walked = defineNote('volume', { step: z.string(), phase });
const lost = defineNote('lost', { whileDeleting: phase, after: phase });
const recycled = defineNote('recycled', { phase, message: z.string().optional() });

export const walkPhases: Claim = {
  number: 31,
  title: 'Phases of volumes and claims',
  statement:
    'A volume goes from Available to Bound to Released, then Available again (Recycle, ' +
    'or claimRef removed) or Failed; a claim whose volume is deleted is Lost.',
  expected:
    'Holds, but a volume begins Pending, finalizers delay Lost until the volume’s ' +
    'object is gone, and Recycle works for NFS and hostPath only: otherwise Failed.',
  procedure: {
    async act(bench) {
      const { clients } = bench.testbed;
      const name = bench.named('walk');
      const look = async (step: string): Promise<void> =>
        bench.note(walked, { step, phase: await bench.phase('volume', name) });
      await apply(clients, [volumeObject(name, choice)]);
      await look('made');
      await bench.until('volume', name, 'Available');
      await bindClaim(bench, name);
      await look('claimed');
      await deleteClaim(bench, name);
      await bench.until('volume', name, 'Released');
      await strip(bench, name, '/spec/claimRef');
      await bench.until('volume', name, 'Available');
      await look('claimRef removed');
      await loseClaim(bench, name);
      await recycle(bench);
    },
    read: reading({ lost, recycled }, ({ lost, recycled }, notes) => {
      const steps = notes.all(walked);
      if (steps.length < 3) return endedEarly;
      const isLost = lost.whileDeleting === 'Bound' && lost.after === 'Lost';
      return {
        asExpected: isLost && recycled.phase === 'Failed',
        said:
          `Volume: ${steps.map(({ step, phase }) => `${step} ${phase}`).join(', ')}, Released in ` +
          `between. Its deletion under a claim leaves the claim ${lost.whileDeleting} until the ` +
          `finalizer is gone, then ${lost.after}. Recycle with a CSI volume: ${recycled.phase} ` +
          `(${recycled.message}).`,
      };
    }),
  },
};

/** Deletes the volume under its claim. */
async function loseClaim(bench: Bench, name: string): Promise<void> {
  await bindClaim(bench, name);
  await bench.testbed.clients.core.deletePersistentVolume({ name });
  await bench.pause(2_000);
  const whileDeleting = await bench.phase('claim', name);
  await strip(bench, name, '/metadata/finalizers');
  await bench.until('claim', name, 'Lost');
  bench.note(lost, { whileDeleting, after: await bench.phase('claim', name) });
  await deleteClaim(bench, name);
}

async function recycle(bench: Bench): Promise<void> {
  const { clients } = bench.testbed;
  const name = bench.named('recycle');
  await apply(clients, [volumeObject(name, { ...choice, reclaim: 'Recycle' })]);
  await bindClaim(bench, name);
  await deleteClaim(bench, name);
  await bench.until('volume', name, 'Failed');
  const { status } = await clients.core.readPersistentVolume({ name });
  bench.note(recycled, { phase: status?.phase ?? 'none', message: status?.message });
}

async function bindClaim(bench: Bench, name: string): Promise<void> {
  await apply(bench.testbed.clients, [claimObject(name, choice)]);
  await bench.until('claim', name, 'Bound');
}

async function deleteClaim(bench: Bench, name: string): Promise<void> {
  await bench.testbed.clients.core.deleteNamespacedPersistentVolumeClaim({ name, namespace });
}

/** Takes a field of the volume away. */
async function strip(bench: Bench, name: string, path: string): Promise<void> {
  await bench.testbed.clients.core.patchPersistentVolume({ name, body: [{ op: 'remove', path }] });
}

const fit = defineNote('fit', { mib: z.number(), marks: z.array(z.string()) });
const delayed = defineNote('delayed', { before: z.string(), after: z.string() });
const asked = defineNote('provisioner', {
  phase: z.string(),
  annotations: z.record(z.string(), z.string()),
});

const provisionerKeys = [
  'volume.kubernetes.io/storage-provisioner',
  'volume.beta.kubernetes.io/storage-provisioner',
];

export const walkBinding: Claim = {
  number: 32,
  title: 'Binding and provisioning',
  statement:
    'The smallest volume that is big enough is bound, marked by annotations; ' +
    'WaitForFirstConsumer waits for a pod; a provisioner is named by the annotation ' +
    '`volume.beta.kubernetes.io/storage-provisioner`.',
  expected:
    'Holds; `volume.kubernetes.io/storage-provisioner` was added. CreateVolume is ' +
    'called by an external-provisioner, which is not installed here: that half is not ' +
    'measured.',
  procedure: {
    async act(bench) {
      await smallestFit(bench);
      await waitsForPod(bench);
      await provisioned(bench);
    },
    read: reading({ fit, delayed, asked }, ({ fit, delayed, asked }) => {
      const found = provisionerKeys.filter((key) => asked.annotations[key] !== undefined);
      const isDelayed = delayed.before === 'Pending' && delayed.after === 'Bound';
      return {
        asExpected: fit.mib === 32 && isDelayed && found.length === 2,
        said:
          `A claim of 20 MiB among volumes of 16, 32 and 64 got the one of ${fit.mib}, marked ` +
          `${String(fit.marks)}. WaitForFirstConsumer: ${delayed.before} without a pod, ` +
          `${delayed.after} with one. A class with a provisioner: claim ${asked.phase}, annotated ` +
          `${found.join(' and ')}; CreateVolume not measured.`,
      };
    }),
  },
};

async function smallestFit(bench: Bench): Promise<void> {
  const { clients } = bench.testbed;
  // A class of its own, so that no other claim can take them.
  const name = bench.named('fit');
  for (const mib of [64, 16, 32]) {
    const volume = `${name}-${mib}`;
    await apply(clients, [volumeObject(volume, { mib, storageClass: name })]);
    await bench.until('volume', volume, 'Available');
  }
  await apply(clients, [claimObject(name, { mib: 20, storageClass: name })]);
  await bench.until('claim', name, 'Bound');
  const { spec, metadata } = await clients.core.readNamespacedPersistentVolumeClaim({
    ...{ name, namespace },
  });
  const marks = Object.keys(metadata?.annotations ?? {}).filter((key) => key.startsWith('pv.'));
  bench.note(fit, { mib: Number(spec?.volumeName?.split('-').at(-1)), marks });
}

async function waitsForPod(bench: Bench): Promise<void> {
  const storageClass = bench.named('delayed');
  const kind = classObject(storageClass, 'WaitForFirstConsumer', 'kubernetes.io/no-provisioner');
  await apply(bench.testbed.clients, [kind]);
  const volume = await bench.volume('delayed', { storageClass });
  await bench.pause(4_000);
  const before = await bench.phase('claim', volume);
  await bench.pod('delayed', { volume });
  await bench.until('claim', volume, 'Bound');
  bench.note(delayed, { before, after: await bench.phase('claim', volume) });
}

async function provisioned(bench: Bench): Promise<void> {
  const { clients } = bench.testbed;
  const name = bench.named('class');
  await apply(clients, [classObject(name, 'Immediate', driverName)]);
  await apply(clients, [claimObject(name, { mib: 16, storageClass: name })]);
  await bench.pause(4_000);
  const claim = await clients.core.readNamespacedPersistentVolumeClaim({ name, namespace });
  const annotations = claim.metadata?.annotations ?? {};
  bench.note(asked, { phase: claim.status?.phase ?? 'none', annotations });
}
