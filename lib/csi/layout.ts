/** Where things lie in the directory that every node and the lab share, and what they are called. */
import { join } from 'node:path';
import { UsageError } from '../errors.ts';

export const driverName = 'disk.forcedetach.dev';

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
  /** Held while an attachment record is changed. */
  readonly lock: string;
}

export function layoutOf(root: string): Layout {
  return {
    root,
    volumes: join(root, 'volumes'),
    copies: join(root, 'copies'),
    log: join(root, 'log'),
    lock: join(root, 'lock'),
  };
}

export const volumeFolder = (layout: Layout, volume: string): string =>
  join(layout.volumes, checkedName('volume', volume));

/** The volume itself: a sparse file. Each attachment is a loop device over it. */
export const imagePath = (layout: Layout, volume: string): string =>
  join(volumeFolder(layout, volume), 'disk.img');

export const recordPath = (layout: Layout, volume: string): string =>
  join(volumeFolder(layout, volume), 'attachments.json');

export const copyPath = (layout: Layout, label: string): string =>
  join(layout.copies, `${checkedName('label', label)}.img`);

export const callLogPath = (layout: Layout, node: string): string =>
  join(layout.log, `csi-${checkedName('node', node)}.jsonl`);

/** True for names that are one plain path segment; Kubernetes' names and volume handles are. */
export const isName = (name: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(name);

function checkedName(kind: string, name: string): string {
  if (!isName(name)) {
    throw new UsageError('BAD_NAME', `${JSON.stringify(name)} cannot name a ${kind}`, {
      hint: 'Use letters, digits, dots and dashes, beginning with a letter or digit.',
    });
  }
  return name;
}
