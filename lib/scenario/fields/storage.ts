/** The fields of a scenario that say what the disk does, and what is on it. In the order of a record. */
import { filesystems } from '../disk-kinds.ts';
import { diskModes, fieldsOfModes, type DiskMode } from '../disks/index.ts';
import { choice, field, toggle } from './field.ts';
import { diskOriginSchema } from '../disks/disk-origin.ts';

/** Modes as Kubernetes names them; ReadWriteMany is declared, whatever the disk can do. */
export const accessModes = ['ReadWriteOnce', 'ReadWriteOncePod', 'ReadWriteMany'] as const;

/** All that are attached. */
const devices = diskModes.filter(
  (mode): mode is Exclude<DiskMode, 'shared-file'> => mode !== 'shared-file',
);

const { fileLocks, ...fieldsOfAttached } = fieldsOfModes;

export const diskFields = {
  provision: choice('volume.provision', ['static', 'dynamic'], 'static', {
    about:
      'static: the volume exists before the run; dynamic: the official external-provisioner makes it, as on most clusters (measured only, not shared-file)',
    more: '([below](#provisioning))',
    needs: 'provisioner',
  }),
  disk: choice('disk.mode', diskModes, 'unfenced', {
    about: 'how the disk answers a detach of a volume in use',
    swept: { share: 0.6, isAsked: true },
    more: '([below](#disks))',
  }),
  diskFrom: field('diskFrom', diskOriginSchema.optional(), {
    about: 'the certificate that describes the disk',
    more: '([play a certificate](../how-to/play-a-certificate.md))',
  }),
  ...fieldsOfAttached,
  attachWhileBusy: choice('disk.attachWhileBusy', ['refused', 'granted'], 'refused', {
    about: 'whether the storage attaches a volume that it still counts as attached to another node',
    swept: {},
    of: devices,
  }),
  fileLocks,
};

export const volumeFields = {
  filesystem: choice('volume.filesystem', filesystems, 'ext4', {
    flag: 'fs',
    about: 'file system of the volume; ext4-mmp has multiple mount protection',
    swept: { share: 0.1, draw: () => 'ext4-mmp' },
  }),
  accessMode: choice('volume.accessMode', accessModes, 'ReadWriteOnce', {
    about: 'access mode of the volume in Kubernetes',
    swept: { share: 0.2, asksNoRow: true },
  }),
  flushes: choice('disk.flushes', ['honest', 'ignored'], 'honest', {
    about: 'ignored: the disk acknowledges flushes and does nothing',
    swept: { share: 0.05, draw: () => 'ignored' },
    of: devices,
  }),
};

export const writeLogFields = {
  keepWrites: toggle('disk.keepWrites', false, {
    about: 'keep the data of each write, so that crash-states can rebuild any moment',
    of: devices,
    needs: 'write-log',
  }),
};
