/** Words for what a disk, its links and its power may do, and for the file systems on it. */

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
