/** A detach cuts the node off, then answers. */
import { fence } from '../paths.ts';
import type { DetachMode } from './mode.ts';

export const fenced: DetachMode = {
  name: 'fenced',
  detach: ({ backend, volume, attachment }) => fence(backend, { volume, attachment }),
};
