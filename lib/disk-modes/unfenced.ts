/** A detach is bookkeeping: the node keeps its path, and writes on if it is alive. */
import { diskMode } from './mode.ts';

export const unfenced = diskMode({
  name: 'unfenced',
  answers: 'a detach is bookkeeping: the old node writes on',
  inWords: 'takes a detach as bookkeeping, and nothing cuts the old node off',
});
