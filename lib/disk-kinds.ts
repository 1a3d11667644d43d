/** The kinds of disk by name: how each answers Kubernetes, and what it does to a node that still writes. */

/** In the order of docs/reference/drivers.md, from the one that protects least. */
export const diskModes = [
  /** A detach is bookkeeping: the node keeps writing. */
  'unfenced',
  /** A detach answers at once and cuts the node off a while later. */
  'ack-early',
  /** A detach cuts the node off only where the node carries the out-of-service taint. */
  'fence-if-out-of-service',
  /** A detach cuts the node off, then answers. */
  'fenced',
  /** A detach is refused for as long as the node has the volume mounted. */
  'pending-while-busy',
  /** A detach is bookkeeping, and staging waits until no other node watches the image (RBD). */
  'exclusive',
  /** Staging registers the node and pre-empts the others, whose I/O is aborted (SCSI-3 PR, NVMe). */
  'reservation',
  /** A shared directory without an attach phase (NFS): nothing is attached, detached or fenced. */
  'shared-file',
] as const;
export type DiskMode = (typeof diskModes)[number];

/** What a partition does to a node's path to the disk. */
export const storageLinks = ['survives', 'stalls', 'errors'] as const;
export type StorageLink = (typeof storageLinks)[number];
export type SeveredLink = Exclude<StorageLink, 'survives'>;

/** How the disk calls a node's link: requests pass, are held, or are I/O errors. */
export const linkStates = ['pass', 'stall', 'fail'] as const;
export type LinkState = (typeof linkStates)[number];
export const linkStateOf = {
  survives: 'pass',
  stalls: 'stall',
  errors: 'fail',
} as const satisfies Readonly<Record<StorageLink, LinkState>>;

export const filesystems = ['ext4', 'ext4-mmp', 'xfs'] as const;
export type Filesystem = (typeof filesystems)[number];

/** What losing power does to writes that were acknowledged but not flushed yet. */
export const powerLosses = ['keeps', 'drops', 'reorders', 'tears'] as const;
export type PowerLoss = (typeof powerLosses)[number];
