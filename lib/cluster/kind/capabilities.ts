/** What kind has beyond what every backend has, known before one is opened. */
import { capabilitiesBut, type Capability } from '../../capabilities.ts';

/**
 * The forced-detach wait is compiled in: only the controller manager built here can change it. Clients and
 * audits are programs of their own, in images: what a caller has in his script is not there.
 */
export const kindCapabilities = (made: 'built' | 'published'): readonly Capability[] =>
  capabilitiesBut(['own-database', ...(made === 'built' ? [] : (['force-detach-wait'] as const))]);
