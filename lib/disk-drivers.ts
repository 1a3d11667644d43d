/**
 * Real drivers by the mode of disk they behave like: what a report names under "applies to you if".
 * docs/which-disk-is-mine.md has the same list with what each does, how sure that is, and its source.
 */
import type { DiskMode } from './disk-kinds.ts';

export interface Driver {
  /** As the first cell of its row in the docs. */
  readonly name: string;
  /** What must hold for it to behave so; default: as it comes. */
  readonly note?: string;
}

export const driversByMode: Readonly<Record<DiskMode, readonly Driver[]>> = {
  unfenced: [
    { name: 'iSCSI (csi-driver-iscsi)', note: 'it has no attach at all: read the runs with RWX' },
    { name: 'Ceph RBD (ceph-csi), raw block RWX', note: 'the watcher check is switched off' },
  ],
  'ack-early': [
    { name: 'AWS EBS, in-tree', note: 'history' },
    { name: 'GCE Persistent Disk, a detach that timed out', note: 'reported once, 2022' },
  ],
  'fence-if-out-of-service': [
    {
      name: 'Ceph RBD (ceph-csi), fencing on',
      note: 'a version that fences in ControllerUnpublish, with the controller-publish secret',
    },
    {
      name: 'CephFS (ceph-csi), fencing on',
      note: 'the same; without the taint it is a shared file',
    },
    { name: 'Ceph RBD (Rook with NetworkFence)', note: 'Rook watches the taint itself' },
  ],
  fenced: [
    { name: 'GCE Persistent Disk' },
    { name: 'Azure Disk' },
    { name: 'vSphere CSI' },
    {
      name: 'OpenStack Cinder',
      note: 'while the hypervisor answers; else the detach stays pending',
    },
    { name: 'Hetzner Cloud Volumes' },
    { name: 'DigitalOcean Volumes' },
    { name: 'Longhorn', note: 'the lost node may go on writing to a replica of its own' },
    { name: 'OpenEBS Mayastor', note: 'while its target is reached' },
  ],
  'pending-while-busy': [{ name: 'AWS EBS' }],
  exclusive: [
    { name: 'Ceph RBD (ceph-csi)' },
    { name: 'Ceph RBD, in-tree', note: 'history: removed in Kubernetes 1.31' },
    { name: 'LINSTOR/DRBD (linstor-csi)', note: 'with quorum on' },
  ],
  reservation: [
    { name: 'A plugin of your own with sg_persist', note: 'no CSI driver was found that does it' },
  ],
  'shared-file': [
    { name: 'NFS (csi-driver-nfs)' },
    { name: 'AWS EFS' },
    { name: 'CephFS (ceph-csi)', note: 'without the out-of-service taint' },
  ],
};
