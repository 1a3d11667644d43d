/** A detach answers at once and cuts the node off a while later. From the answer on no path can be opened. */
import { oneOf, time } from '../field.ts';
import { diskMode } from './mode.ts';

export const ackEarly = diskMode({
  name: 'ack-early',
  does: 'answers a detach at once and cuts the old node off a while later',
  more: '(`cutAfter`)',
  detach: { cuts: 'after-answer' },
  fields: {
    cutAfter: time(10_000, {
      about: 'how long after its answer to the detach the disk cuts the node off',
      swept: { draw: oneOf([0, 100, 1000, 10_000, 60_000]) },
    }),
  },
});
