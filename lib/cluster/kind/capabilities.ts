/** What kind has beyond what every backend has, known before one is opened. */
import { capabilitiesBut, type Capability } from '../../capabilities.ts';

/** The forced-detach wait is compiled in: only the controller manager built here can change it. */
export const kindCapabilities = (made: 'built' | 'published'): readonly Capability[] =>
  capabilitiesBut(made === 'built' ? [] : ['force-detach-wait']);
