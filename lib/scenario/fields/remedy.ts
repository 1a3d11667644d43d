/** The fields of a scenario that say what an operator does, and when. */
import { choice, moment } from './field.ts';
import { eventOr, secondsWithin, type Dice } from './swept.ts';
import { actingRemedies, remedyKinds, taintingRemedies } from '../remedies/index.ts';
import { remedyEvents, undoEvents } from '../../core/index.ts';

/** Soon, or at any time of the usual waits. */
const whenever = (dice: Dice): number => secondsWithin(0, dice.pick([60, 420]))(dice);

export const remedyFields = {
  remedy: choice('remedy.kind', remedyKinds, 'none', {
    about: 'what removes the old pod',
    swept: { isAsked: true },
  }),
  remedyAt: moment('remedy.at', remedyEvents, 'terminating', {
    about:
      'when the remedy acts: terminating, not-ready, pod-gone, successor-pending (a new pod without a mount), or a time after the fault (400s)',
    of: actingRemedies,
    isHarmless: true,
    swept: { isAsked: true, draw: eventOr(0.5, remedyEvents, whenever) },
  }),
  untaintAt: moment('remedy.untaintAt', undoEvents, 'end', {
    about:
      'when the out-of-service taint is removed: end (a database serves again), heal, kept (until the time to converge is over), or a time after the remedy',
    of: taintingRemedies,
    swept: { asksNoRow: true, draw: eventOr(0.5, undoEvents, secondsWithin(0, 60)) },
  }),
};
