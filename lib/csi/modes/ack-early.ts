/**
 * A detach is answered at once, and the node is cut off a while later: by the array itself, so that
 * no death of the driver keeps the cut from coming. From the answer on no path can be opened.
 */
import { fence } from '../paths.ts';
import type { DetachMode } from './mode.ts';

export const ackEarly: DetachMode = {
  name: 'ack-early',
  async detach({ backend, volume, attachment, attributes, notes }) {
    const paths = await fence(backend, { volume, attachment }, attributes.cutAfterMs);
    notes['cutAfterMs'] = attributes.cutAfterMs;
    notes['toBeCut'] = paths.map(({ generation }) => generation);
    return [];
  },
};
