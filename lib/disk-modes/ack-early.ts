/** A detach answers at once and cuts the node off a while later. From the answer on no path can be opened. */
import { diskMode } from './mode.ts';

export const ackEarly = diskMode({
  name: 'ack-early',
  does: 'answers a detach at once and cuts the old node off a while later',
  more: '(`cutAfter`)',
  detach: { cuts: 'after-answer' },
});
