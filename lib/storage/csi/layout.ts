/** Where things lie in the directory that every node and the lab share, and what they are called. */
import { join } from 'node:path';
import { UsageError } from '../../core/index.ts';

export const driverName = 'disk.forcedetach.dev';
/** Publishes shared directories, which are never attached. */
export const filesDriverName = 'files.forcedetach.dev';

/** Mounted at this path into every node, the driver's pods and the lab. */
export const defaultRoot = '/var/lib/forcedetach';

export interface Layout {
  readonly root: string;
  /** One folder per volume, named by its handle. */
  readonly volumes: string;
  /** Copies of volumes, for audits. */
  readonly copies: string;
  /** One file per node: its CSI calls, one JSON object a line. */
  readonly log: string;
  /** What leaves with a run: logs of writes, one folder per label. */
  readonly exports: string;
  /** The array listens here. */
  readonly arraySocket: string;
  /** Held while an attachment record is changed. */
  readonly lock: string;
}

export const layoutOf = (root: string): Layout => ({
  root,
  volumes: join(root, 'volumes'),
  copies: join(root, 'copies'),
  log: join(root, 'log'),
  exports: join(root, 'exports'),
  arraySocket: join(root, 'array.sock'),
  lock: join(root, 'lock'),
});

export const volumeFolder = (layout: Layout, volume: string): string =>
  join(layout.volumes, checkedName('volume', volume));

/** The volume itself: a sparse file, which the array serves to each attachment by a path of its own. */
export const imagePath = (layout: Layout, volume: string): string =>
  join(volumeFolder(layout, volume), 'disk.img');

/** The directory of a volume that is shared by its files; disk.img then says its size only. */
export const filesPath = (layout: Layout, volume: string): string =>
  join(volumeFolder(layout, volume), 'files');

export const recordPath = (layout: Layout, volume: string): string =>
  join(volumeFolder(layout, volume), 'attachments.json');

export const copyPath = (layout: Layout, label: string): string =>
  join(layout.copies, `${checkedName('label', label)}.img`);

/** A copy of a volume that is shared by its files. */
export const filesCopyPath = (layout: Layout, label: string): string =>
  join(layout.copies, `${checkedName('label', label)}.files`);

export const exportFolder = (layout: Layout, label: string): string =>
  join(layout.exports, checkedName('label', label));

export const callLogPath = (layout: Layout, node: string): string =>
  join(layout.log, `csi-${checkedName('node', node)}.jsonl`);

/** True for names that are one plain path segment; Kubernetes' names and volume handles are. */
export const isName = (name: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(name);

/** Throws UsageError `BAD_NAME` for what is no plain path segment. */
export function checkedName(kind: string, name: string): string {
  if (!isName(name)) {
    throw new UsageError('BAD_NAME', `${JSON.stringify(name)} is not a valid name of a ${kind}`, {
      hint: 'Use letters, digits, dots and dashes, beginning with a letter or digit.',
    });
  }
  return name;
}
