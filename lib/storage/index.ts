/** The CSI driver, the array behind it, and copies of a volume that an audit reads. */
export { type CommandLimits, mustRun, runTool, patiently } from './audit/command.ts';
export { VolumeCopy, type VolumeCopyOptions } from './audit/volume-copy.ts';
export { type AuditMessage, batchRows, decodeRows, encodeRows } from './audit/wire.ts';
export {
  arrayAt,
  askOf,
  type ArrayPort,
  pathStatusSchema,
  powerLossSchema,
} from './csi/array-client.ts';
export { type CallEntry, callSchema } from './csi/grpc.ts';
export { canaryContentOf, canaryFolder, unsyncedCanary } from './csi/canary.ts';
export { copyIdentitySchema } from './csi/copy-label.ts';
export {
  type Layout,
  copyPath,
  defaultRoot,
  driverName,
  filesCopyPath,
  filesDriverName,
  imagePath,
  layoutOf,
  volumeFolder,
} from './csi/layout.ts';
export {
  devicePath,
  ensureKernelDevices,
  isBound,
  removeLoop,
  cleanUpMountPoint,
} from './csi/devices.ts';
export { storageHost, type Target } from './csi/paths.ts';
export { type WatchLine, watchLineSchema } from './csi/watch.ts';
