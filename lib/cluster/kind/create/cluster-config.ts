/** What makes two clusters the same: a hash over everything that is fixed when one is created. */
import { createHash } from 'node:crypto';
import type { ImageSet } from '../../../images/image-set.ts';
import type { FeatureGates } from '../../../kubernetes-versions.ts';
import type { ClusterTimers } from '../../timers.ts';

/** Grows when clusters made by an older version can't be reused. */
const format = 4;

/** Whether the controller manager detaches by force once the wait is over. */
export type ForceDetach = 'on' | 'off';

export interface ClusterConfig {
  readonly images: ImageSet;
  readonly workers: number;
  readonly timers: ClusterTimers;
  readonly forceDetach: ForceDetach;
  readonly featureGates: FeatureGates;
}

/**
 * 16 hex digits. The images of driver and array are left out: they are renewed at each start, so an
 * edit of the disk costs no cluster.
 */
export function configHash(config: ClusterConfig): string {
  const { images, workers, timers, forceDetach } = config;
  const ids = Object.entries(images.ids)
    .filter(([name]) => name !== 'driver' && name !== 'array')
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  const kubernetes = images.kubernetesVersion;
  const gates = Object.entries(config.featureGates).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const made = { format, kubernetes, node: images.node, ids, workers, timers, forceDetach, gates };
  const text = JSON.stringify(made);
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
