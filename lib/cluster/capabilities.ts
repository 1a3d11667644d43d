/** What not every cluster can do: known before one is opened, so that who needs it is refused. */

/**
 * What a backend may have beyond what every one has: it runs commands on a node; a provisioner makes
 * the volume; each of Kubernetes' feature gates can be set; the forced-detach wait can be changed;
 * the database may be a group of servers; its storage cuts a node off, breaks and mends a node's way to it, loses what was not flushed (storage/port.ts).
 */
export type Capability =
  | 'node-shell'
  | 'provisioner'
  | 'any-gate'
  | 'force-detach-wait'
  | 'replication-group'
  | StorageCapability;

export type StorageCapability = 'fence' | 'storage-link' | 'power-loss';
/** What our own array has, and so its model. */
export const arrayCapabilities: readonly StorageCapability[] = [
  'fence',
  'storage-link',
  'power-loss',
];
