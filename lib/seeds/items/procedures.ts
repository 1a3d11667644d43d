/** The seeds that no scenario shows: each has a procedure of its own on a cluster. */
import { deletedByHand } from '../procedures/reconcile.ts';
import { detachGate } from '../procedures/detach-gate.ts';
import { detachStalls } from '../procedures/detach-stalls.ts';
import { division } from '../procedures/division.ts';
import { hangingMount } from '../procedures/hanging-mount.ts';
import { keepTerminated } from '../procedures/keep-terminated.ts';
import { kubeletAttach } from '../procedures/kubelet-attach.ts';
import { noAttach } from '../procedures/no-attach.ts';
import { orphanedLock } from '../procedures/orphaned-lock.ts';
import { sameNodeRecreate } from '../procedures/same-node.ts';
import { sharedMount } from '../procedures/shared-mount.ts';
import { statusFields } from '../procedures/status-fields.ts';
import { restartedInTheWait } from './controller-restart.ts';
import { mountedAtEviction } from './shared-file.ts';
import type { Seed } from '../seed.ts';

export const procedureSeeds: readonly Seed[] = [
  {
    number: 2,
    title: 'Division of labour',
    claim: 'The controller attaches from the control plane, kubelet mounts on its node.',
    expected:
      'Holds: without the controller manager nothing is attached, without kubelet the ' +
      'volume is attached and not mounted.',
    procedure: division,
  },
  {
    number: 4,
    title: 'Attach by the controller or by kubelet',
    claim:
      'An annotation of the node says who attaches; `enableControllerAttachDetach` ' +
      'makes kubelet do it.',
    expected:
      'The default holds (the controller). With false the annotation goes away and ' +
      'kubelet would attach; for CSI that fails, the pod does not start.',
    procedure: kubeletAttach,
  },
  {
    number: 5,
    title: 'Orphaned lock',
    claim: 'A node dies, nobody tells the provider, and the disk stays locked.',
    expected:
      'Still so while the controller manager is away: the VolumeAttachment stays. ' +
      '(Kubelets that race each other are history and cannot be run.)',
    procedure: orphanedLock,
  },
  {
    number: 7,
    title: 'Detach gate',
    claim: 'The controller confirms that a volume is unmounted before it detaches it.',
    expected:
      'Holds on a Ready node, for ever: no timer. But the out-of-service taint gets ' +
      'past it even on a Ready node.',
    procedure: detachGate,
  },
  {
    number: 18,
    title: 'Reconcile loops',
    claim:
      'Controller and volume manager bring the actual state to the desired one, again and again.',
    expected:
      'Holds: a VolumeAttachment deleted by hand comes back within about a minute. A ' +
      'restarted controller manager begins its wait anew.',
    runs: [{ experiment: 'controller-restart', flags: '--remedy force-delete' }],
    read: restartedInTheWait,
    procedure: deletedByHand,
  },
  {
    number: 19,
    title: 'Node status fields',
    claim:
      'volumesAttached and volumesInUse name `kubernetes.io/csi/<driver>^<handle>`; ' +
      'devicePath is `csi-<hash>`.',
    expected: 'The names hold; devicePath is empty for CSI now.',
    procedure: statusFields,
  },
  {
    number: 20,
    title: 'Recreated on the same node',
    claim:
      'Now and then a pod that is deleted and made again on its node fails to mount its volume.',
    expected:
      'No cause is named. Measured: how long the new pod takes, and whether one ever fails.',
    procedure: sameNodeRecreate,
  },
  {
    number: 26,
    title: 'NFS: no attach phase',
    claim: 'A file system from a server is mounted without an attach.',
    expected:
      'Holds: no VolumeAttachment, no volumesAttached, no Multi-Attach error, also for ' +
      'ReadWriteOnce. A Deployment mounts a second time at the eviction.',
    runs: [
      {
        experiment: 'network-partition',
        flags: '--remedy none --workload deployment-recreate --disk shared-file',
      },
    ],
    read: mountedAtEviction,
    procedure: noAttach,
  },
  {
    number: 29,
    title: 'The mount loop never blocks',
    claim: 'Kubelet mounts beside its sync loop, which must never block.',
    expected: 'Holds: while one NodeStage hangs, other pods start on the node.',
    procedure: hangingMount,
  },
  {
    number: 30,
    title: 'Bind mounts over one global mount',
    claim: 'A device is mounted once per node, and several pods may share it.',
    expected:
      'Holds: one NodeStage, two NodePublish, both pods run. ReadWriteOncePod blocks the second.',
    procedure: sharedMount,
  },
  {
    number: 33,
    title: 'Life of a VolumeAttachment',
    claim: 'The controller deletes it, the external-attacher detaches and lets it go.',
    expected:
      'Holds: with the attacher away it stays, marked for deletion, until the attacher is back.',
    procedure: detachStalls,
  },
  {
    number: 34,
    title: 'keep-terminated-pod-volumes',
    claim: 'A node with that annotation keeps the volumes of pods that have ended.',
    expected: 'Changed: flag and annotation are gone; the volume is detached.',
    procedure: keepTerminated,
  },
];
