/** A detach cuts the node off, then answers. */
import { diskMode } from './mode.ts';

export const fenced = diskMode({
  name: 'fenced',
  does: 'cuts the old node off before it answers a detach (reservation, blocklist, access list)',
  detach: { cuts: 'before-answer' },
});
