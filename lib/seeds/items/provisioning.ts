/** Seeds 31 and 32: how volumes and claims find each other, and what becomes of them. */
import { walkBinding } from '../procedures/binding.ts';
import { walkPhases } from '../procedures/volume-phases.ts';
import type { Seed } from '../seed.ts';

export const volumePhases: Seed = {
  number: 31,
  title: 'Phases of volumes and claims',
  claim:
    'A volume goes from Available to Bound to Released, then Available again (Recycle, ' +
    'or claimRef removed) or Failed; a claim whose volume is deleted is Lost.',
  expected:
    'Holds, but a volume begins Pending, finalizers delay Lost until the volume’s ' +
    'object is gone, and Recycle works for NFS and hostPath only: otherwise Failed.',
  procedure: walkPhases,
};

export const binding: Seed = {
  number: 32,
  title: 'Binding and provisioning',
  claim:
    'The smallest volume that is big enough is bound, marked by annotations; ' +
    'WaitForFirstConsumer waits for a pod; a provisioner is named by the annotation ' +
    '`volume.beta.kubernetes.io/storage-provisioner`.',
  expected:
    'Holds; `volume.kubernetes.io/storage-provisioner` was added. CreateVolume is ' +
    'called by an external-provisioner, which is not installed here: that half is not ' +
    'measured.',
  procedure: walkBinding,
};
