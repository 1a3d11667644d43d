/** A detach is bookkeeping: the node keeps its path, and writes on if it is alive. */
import { diskMode } from './mode.ts';

export const unfenced = diskMode({
  name: 'unfenced',
  does: 'takes a detach as bookkeeping, and nothing cuts the old node off',
});
