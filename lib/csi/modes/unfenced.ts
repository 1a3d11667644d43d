/** A detach is bookkeeping: the node keeps its path, and writes on if it is alive. */
import type { DetachMode } from './mode.ts';

export const unfenced: DetachMode = {
  name: 'unfenced',
  detach: () => Promise.resolve([]),
};
