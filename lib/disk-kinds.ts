/** The kinds of disk by name: how each answers Kubernetes, and what it does to a node that still writes. */

interface DiskDeclaration {
  readonly name: string;
  /** When another node is to get the volume; fits after `your storage`. */
  readonly does: string;
  /** For the page alone. */
  readonly more?: string;
}

/** In the order of docs/reference/drivers.md, from the one that protects least. */
export const diskDeclarations = [
  {
    name: 'unfenced',
    does: 'takes a detach as bookkeeping, and nothing cuts the old node off',
  },
  {
    name: 'ack-early',
    does: 'answers a detach at once and cuts the old node off a while later',
    more: '(`cutAfter`)',
  },
  {
    name: 'fence-if-out-of-service',
    does: 'cuts the old node off at a detach only where it carries the out-of-service taint',
  },
  {
    name: 'fenced',
    does: 'cuts the old node off before it answers a detach (reservation, blocklist, access list)',
  },
  {
    name: 'pending-while-busy',
    does: 'refuses detach and attach elsewhere while the old node has the volume mounted',
  },
  {
    name: 'exclusive',
    does: 'lets a node stage the volume only when no other node watches it any more',
    more: '(RBD); a node whose link is silent for 30 s watches no more',
  },
  {
    name: 'reservation',
    does: 'lets the next node pre-empt the old one, whose writes then fail',
    more: '(SCSI-3 persistent reservations, NVMe); it does so when it stages the volume',
  },
  {
    name: 'shared-file',
    does: 'is a shared directory, which nothing attaches, detaches or fences',
    more: '(NFS)',
  },
] as const satisfies readonly DiskDeclaration[];

export type DiskMode = (typeof diskDeclarations)[number]['name'];
export const diskModes: readonly DiskMode[] = diskDeclarations.map(({ name }) => name);

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
