/** The fields of a scenario that say what the disk does, and what is on it. In the order of a record. */
import { filesystems, powerLosses, storageLinks } from '../disk-kinds.ts';
import { diskModes, type DiskMode } from '../disk-modes/index.ts';
import { choice, field, time, toggle } from '../fields/field.ts';
import { oneOf } from '../fields/swept.ts';
import { diskOriginSchema } from './disk-origin.ts';

/** Modes as Kubernetes names them; ReadWriteMany is declared, whatever the disk can do. */
export const accessModes = ['ReadWriteOnce', 'ReadWriteOncePod', 'ReadWriteMany'] as const;

/** All that are attached. */
const devices = diskModes.filter(
  (mode): mode is Exclude<DiskMode, 'shared-file'> => mode !== 'shared-file',
);

export const diskFields = {
  provision: choice('volume.provision', ['static', 'dynamic'], 'static', {
    flags: '--provision <how>',
    about:
      'static: the volume is there before the run, and nothing but attach and detach is on the way; dynamic: the official external-provisioner makes it, as on most clusters (measured only, not shared-file)',
    more: '([below](#provisioning))',
  }),
  disk: choice('disk.mode', diskModes, 'unfenced', {
    flags: '--disk <kind>',
    about: 'how the disk answers a detach of a volume in use',
    swept: { share: 0.6, isAsked: true },
    more: '([below](#disks))',
  }),
  diskFrom: field('diskFrom', diskOriginSchema.optional(), {
    about: 'the certificate that the disk is taken from',
    more: '([play a certificate](../how-to/play-a-certificate.md))',
  }),
  cutAfterMs: time('disk.cutAfter', 10_000, {
    flags: '--cut-after <time>',
    about: 'the node is cut off so long after the detach was answered',
    swept: { draw: oneOf([0, 100, 1000, 10_000, 60_000]) },
    of: ['ack-early'],
  }),
  watcherCheck: choice('disk.watcherCheck', ['works', 'missing'], 'works', {
    flags: '--watcher-check <how>',
    about: 'whether the driver’s question for watchers gets an answer',
    swept: {},
    of: ['exclusive'],
  }),
  attachWhileBusy: choice('disk.attachWhileBusy', ['refused', 'granted'], 'refused', {
    flags: '--attach-while-busy <answer>',
    about: 'whether the storage lets a node attach what it still counts as another node’s',
    swept: {},
    of: devices,
  }),
  fileLocks: choice('disk.fileLocks', ['shared', 'local'], 'shared', {
    flags: '--file-locks <kind>',
    about: 'one lock table for all nodes, or one a node (NFS mounted with nolock)',
    swept: {},
    of: ['shared-file'],
  }),
  link: choice('fault.link', storageLinks, 'survives', {
    flags: '--link <fate>',
    about: 'what a partition does to the victim’s path to the disk',
    swept: { isAsked: true },
    of: ['network-partition'],
  }),
};

export const volumeFields = {
  filesystem: choice('volume.filesystem', filesystems, 'ext4', {
    flags: '--fs <kind>',
    about: 'file system of the volume; ext4-mmp has multiple mount protection',
    swept: { share: 0.1, draw: () => 'ext4-mmp' },
  }),
  accessMode: choice('volume.accessMode', accessModes, 'ReadWriteOnce', {
    flags: '--access-mode <mode>',
    about: 'of the volume, as Kubernetes is told',
    swept: { share: 0.2, asksNoRow: true },
  }),
  flushes: choice('disk.flushes', ['honest', 'ignored'], 'honest', {
    flags: '--flushes <kind>',
    about: 'ignored: the disk acknowledges flushes and does nothing',
    swept: { share: 0.05, draw: () => 'ignored' },
    of: devices,
  }),
  powerLoss: choice('fault.powerLoss', powerLosses, 'keeps', {
    flags: '--power-loss <fate>',
    about: 'what a crash does to writes that the disk had acknowledged but not flushed',
    swept: { isAsked: true },
    of: ['node-crash', 'node-reboot'],
  }),
  keepWrites: toggle('disk.keepWrites', false, {
    flags: '--keep-writes',
    about: 'keep the data of each write, so that crash-states can rebuild any moment',
    of: devices,
  }),
};
