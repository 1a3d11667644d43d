/** The modes of disk by name, and the fields of a scenario that say what the disk does and what is on it. */
import { filesystems } from '../disk-kinds.ts';
import { choice, toggle } from '../field.ts';
import { fieldsOfKinds } from '../kinds.ts';
import { revocations, transports } from '../transports/index.ts';
import { ackEarly } from './ack-early.ts';
import { calls } from './calls.ts';
import { exclusive } from './exclusive.ts';
import { fenceIfOutOfService } from './fence-if-out-of-service.ts';
import { fenced } from './fenced.ts';
import type { DiskModeDeclaration } from './mode.ts';
import { pendingWhileBusy } from './pending-while-busy.ts';
import { reservation } from './reservation.ts';
import { sharedFile } from './shared-file.ts';
import { unfenced } from './unfenced.ts';

/** In the order of docs/reference/drivers.md, from the one that protects least. */
const declared = [
  ...[unfenced, ackEarly, fenceIfOutOfService, fenced, pendingWhileBusy],
  ...[exclusive, reservation, sharedFile],
] as const;

export type DiskMode = (typeof declared)[number]['name'];
export const diskModeDeclarations: readonly DiskModeDeclaration<DiskMode>[] = declared;
export const diskModes: readonly DiskMode[] = declared.map(({ name }) => name);

/** By name. */
export const diskModeOf = Object.fromEntries(declared.map((mode) => [mode.name, mode])) as Readonly<
  Record<DiskMode, DiskModeDeclaration<DiskMode>>
>;

/** A shared directory, which nobody attaches. */
export const isDirectory = (mode: DiskMode): boolean => diskModeOf[mode].isDirectory === true;

/** All that are attached. */
const devices = diskModes.filter(
  (mode): mode is Exclude<DiskMode, 'shared-file'> => mode !== 'shared-file',
);

/** Those that ever cut a node off. */
const cutters = devices.filter(
  (mode) => (diskModeOf[mode].detach ?? diskModeOf[mode].stage?.cutsOthers) !== undefined,
);

const { fileLocks, ...fieldsOfAttached } = fieldsOfKinds(declared);

export const diskFields = {
  mode: choice(diskModes, 'unfenced', {
    about: 'how the disk answers a detach of a volume in use',
    swept: { share: 0.6, isAsked: true },
    more: '([below](#disks))',
  }),
  ...fieldsOfAttached,
  attachWhileBusy: choice(['refused', 'granted'], 'refused', {
    about: 'whether the storage attaches a volume that it still counts as attached to another node',
    swept: {},
    of: devices,
  }),
  transport: choice(transports, 'array', {
    flag: 'disk-transport',
    about:
      'how a node reaches the disk: array: by a device of the storage itself; else over a storage network of its own, by that protocol (measured only)',
    more: '([below](#transports))',
    of: devices,
    needs: 'storage-network',
  }),
  revocation: choice(revocations, 'cut', {
    about:
      'how a cut is done: cut: the array refuses the path; hang: it answers nothing; else as the server of the transport does it',
    more: '([below](#transports))',
    of: cutters,
  }),
  fileLocks,
  flushes: choice(['honest', 'ignored'], 'honest', {
    about: 'ignored: the disk acknowledges flushes and does nothing',
    swept: { share: 0.05, draw: () => 'ignored' },
    of: devices,
  }),
  calls,
  keepWrites: toggle(false, {
    about: 'keep the data of each write, so that crash-states can rebuild any moment',
    of: devices,
    needs: 'write-log',
  }),
};

/** Modes as Kubernetes names them; ReadWriteMany is declared, whatever the disk can do. */
export const accessModes = ['ReadWriteOnce', 'ReadWriteOncePod', 'ReadWriteMany'] as const;

export const volumeFields = {
  provision: choice(['static', 'dynamic'], 'static', {
    about:
      'static: the volume exists before the run; dynamic: the official external-provisioner makes it, as on most clusters (measured only, not shared-file)',
    more: '([below](#provisioning))',
    needs: 'provisioner',
  }),
  filesystem: choice(filesystems, 'ext4', {
    flag: 'fs',
    about: 'file system of the volume; ext4-mmp has multiple mount protection',
    swept: { share: 0.1, draw: () => 'ext4-mmp' },
  }),
  accessMode: choice(accessModes, 'ReadWriteOnce', {
    about: 'access mode of the volume in Kubernetes',
    swept: { share: 0.2, asksNoRow: true },
  }),
};
