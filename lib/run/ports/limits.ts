/** What a cluster of our own on kind has and may have, before one is opened: light enough for flags. */
import { capabilitiesBut, type Capability } from '../../core/index.ts';

/** Worker nodes of a cluster, where the user does not say how many. */
export const kindWorkers = 2;

/** A cluster has at most so many; its last loop devices are theirs, one each: what audits mount. */
export const mostPools = 8;

/**
 * The forced-detach wait is compiled in: only the controller manager built here can change it. Clients and
 * audits are programs of their own, in images: what a caller has in his script is not there.
 */
export const kindCapabilities = (made: 'built' | 'published'): readonly Capability[] =>
  capabilitiesBut(['own-database', ...(made === 'built' ? [] : (['force-detach-wait'] as const))]);
