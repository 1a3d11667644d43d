/** A detach is bookkeeping: the node keeps its path, and writes on if it is alive. */
import { diskMode } from './mode.ts';

export const unfenced = diskMode({
  name: 'unfenced',
  does: 'only records a detach and does not cut the old node off',
});
